/* Division by what the host knows and the GPU does not: a multiplication and a shift. */
#ifndef CSRCONV_CUDA_DIVISOR_H
#define CSRCONV_CUDA_DIVISOR_H

#include <stdint.h>

#ifdef __CUDACC__
#define CSRCONV_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define CSRCONV_HOST_DEVICE inline
#endif

struct csrconv_divisor {
    uint32_t multiplier;
    int32_t shift;
};

/*
 * For `by` in [1, 2^31): the multiplier is 2^shift / by rounded up, with 2^(shift - 31) >= by, so
 * that the error stays below 1 / by for every numerator below 2^31.
 */
static inline struct csrconv_divisor csrconv_divisor_of(int64_t by)
{
    struct csrconv_divisor divisor = { 0, 31 };
    while ((INT64_C(1) << (divisor.shift - 31)) < by)
        divisor.shift++;
    divisor.multiplier =
        (uint32_t)(((UINT64_C(1) << divisor.shift) + (uint64_t)by - 1) / (uint64_t)by);
    return divisor;
}

/* numerator / by, for a numerator in [0, 2^31). */
static CSRCONV_HOST_DEVICE int32_t csrconv_divide(struct csrconv_divisor divisor, int32_t numerator)
{
    return (int32_t)(((uint64_t)(uint32_t)numerator * divisor.multiplier) >> divisor.shift);
}

#endif
