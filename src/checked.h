/* Sizes in 64 bits that say when they overflow. */
#ifndef CSRCONV_CHECKED_H
#define CSRCONV_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool csrconv_add_overflows(int64_t a, int64_t b, int64_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}

static inline bool csrconv_multiply_overflows(int64_t a, int64_t b, int64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

#endif
