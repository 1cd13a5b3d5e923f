/* The hash of FNV-1a, 64 bits, which names weights by what is in them. */
#ifndef CSRCONV_TOOLS_FNV1A_H
#define CSRCONV_TOOLS_FNV1A_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t fnv1a_start = 0xcbf29ce484222325U;

/* Goes on from a hash. */
static inline uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3U;
    return hash;
}

#endif
