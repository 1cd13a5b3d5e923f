/* Fixed byte orders on any host; compilers turn these into plain loads and stores. */
#ifndef CSRCONV_TOOLS_FORMAT_BYTES_H
#define CSRCONV_TOOLS_FORMAT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An unsigned integer of 1 to 8 bytes. */
static inline uint64_t load_bytes(const uint8_t *at, int size, bool big_endian)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | at[big_endian ? i : size - 1 - i];
    return value;
}

static inline void store_little(uint8_t *at, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
