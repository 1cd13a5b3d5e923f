/* Arithmetic of sizes that are known to fit. */
#ifndef CSRCONV_CUDA_INTEGERS_H
#define CSRCONV_CUDA_INTEGERS_H

#include <stdint.h>

static inline int64_t csrconv_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t csrconv_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b rounded up; a is at least 1. */
static inline int64_t csrconv_ceil_divide(int64_t a, int64_t b)
{
    return (a - 1) / b + 1;
}

/* The next multiple, or x itself; x is at least 0. */
static inline int64_t csrconv_round_up(int64_t x, int64_t multiple)
{
    return (x + multiple - 1) / multiple * multiple;
}

#endif
