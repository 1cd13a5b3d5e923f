#include "npy_values.h"

#include "bytes.h"
#include "complain.h"
#include "half.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

int npy_check_floats(const char *name, const struct npy_header *header)
{
    const int size = header->item_size;
    if (header->kind == 'f' && (size == 2 || size == 4 || size == 8))
        return EXIT_DONE;
    return complain(EXIT_BAD, name, "its dtype is '%s'; float16, float32 or float64 are read",
                    header->descr);
}

static float load_value(const uint8_t *at, int size, bool big_endian)
{
    const uint64_t bits = load_bytes(at, size, big_endian);
    if (size == 2)
        return half_value((uint32_t)bits);
    if (size == 4)
        return float_of_bits((uint32_t)bits);
    return (float)double_of_bits(bits);
}

/* What became infinite only because float is narrower. */
static int64_t count_overflows(const struct npy_header *header, const uint8_t *data)
{
    int64_t overflows = 0;
    for (int64_t i = 0; i < header->count; i++) {
        const double value = double_of_bits(load_bytes(data + 8 * i, 8, header->big_endian));
        overflows += isinf((float)value) && !isinf(value);
    }
    return overflows;
}

static void note_conversions(const struct npy_header *header, const uint8_t *data,
                             struct tensor *tensor)
{
    if (header->big_endian)
        tensor_note(tensor, "big-endian converted");
    if (header->item_size != 4)
        tensor_note(tensor, "float%d converted to float32", 8 * header->item_size);
    const int64_t overflows = header->item_size == 8 ? count_overflows(header, data) : 0;
    if (overflows > 0)
        tensor_note(tensor, "%" PRId64 " values beyond float32 became infinite", overflows);
    if (header->fortran_order && header->rank > 1)
        tensor_note(tensor, "Fortran order converted");
}

static bool is_plain(const struct npy_header *header)
{
    const bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return header->item_size == 4 && !header->big_endian && little_host;
}

static void load_in_order(const struct npy_header *header, const uint8_t *data, float *values)
{
    const int size = header->item_size;
    if (is_plain(header))
        memcpy(values, data, (size_t)header->count * sizeof *values);
    else
        for (int64_t i = 0; i < header->count; i++)
            values[i] = load_value(data + size * i, size, header->big_endian);
}

/* Counts through the indices in C order and keeps the place that each has in Fortran order. */
static void load_fortran(const struct npy_header *header, const uint8_t *data, float *values)
{
    int64_t stride[TENSOR_MAX_RANK + 1] = { 1 };
    int64_t index[TENSOR_MAX_RANK] = { 0 };
    int64_t place = 0;
    for (int d = 0; d < header->rank; d++)
        stride[d + 1] = stride[d] * header->dims[d];
    for (int64_t i = 0; i < header->count; i++) {
        values[i] =
            load_value(data + header->item_size * place, header->item_size, header->big_endian);
        int d = header->rank - 1;
        for (place += stride[d]; d > 0 && ++index[d] == header->dims[d]; d--) {
            place += stride[d - 1] - stride[d + 1];
            index[d] = 0;
        }
    }
}

void npy_load_floats(const struct npy_header *header, const uint8_t *data, float *values,
                     struct tensor *tensor)
{
    if (header->fortran_order && header->rank > 1 && header->count > 0)
        load_fortran(header, data, values);
    else
        load_in_order(header, data, values);
    note_conversions(header, data, tensor);
}

int npy_check_integers(const char *name, const struct npy_header *header)
{
    if (header->rank != 1)
        return complain(EXIT_BAD, name, "has %d dimensions, not 1", header->rank);
    if (header->kind == 'i' && (header->item_size == 4 || header->item_size == 8))
        return EXIT_DONE;
    return complain(EXIT_BAD, name, "its dtype is '%s'; int32 or int64 are read", header->descr);
}

int64_t npy_integer(const struct npy_header *header, const uint8_t *data, int64_t index)
{
    const int size = header->item_size;
    const uint64_t bits = load_bytes(data + size * index, size, header->big_endian);
    return size == 4 ? (int32_t)bits : (int64_t)bits;
}
