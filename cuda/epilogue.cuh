/* What happens to a sum before it is stored; one definition for every CUDA kernel. */
#ifndef CSRCONV_CUDA_EPILOGUE_CUH
#define CSRCONV_CUDA_EPILOGUE_CUH

#include "core.h"

namespace csrconv
{

/* Passed to kernels by value. Both pointers may be NULL. */
struct epilogue {
    const float *bias;
    const float *residual; /* laid out as out */
    float lo, hi;          /* the activation as min(hi, max(lo, x)), NaN kept */
};

static inline epilogue epilogue_of(const struct csrconv_run *run, const float *device_bias)
{
    epilogue e = { device_bias, run->residual, 0.0F, 0.0F };
    csrconv_activation_bounds(run->epilogue, &e.lo, &e.hi);
    return e;
}

/* `at` is the output's place in out and in the residual. */
static __device__ __forceinline__ float finish(const epilogue &e, float sum, int64_t filter,
                                               int64_t at)
{
    float x = e.bias ? sum + __ldg(e.bias + filter) : sum;
    if (e.residual)
        x += __ldg(e.residual + at);
    x = x < e.lo ? e.lo : x;
    return x > e.hi ? e.hi : x;
}

} // namespace csrconv

#endif
