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

/* NaN goes through. */
static __device__ __forceinline__ float clamp(float x, float lo, float hi)
{
#if __CUDA_ARCH__ >= 800
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(lo));
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(hi));
    return x;
#else
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
#endif
}

/* How long results stay in the second cache: those that stream leave it first. */
static __device__ __forceinline__ uint64_t store_policy(bool is_streaming)
{
    uint64_t policy = 0;
#if __CUDA_ARCH__ >= 800
    if (is_streaming)
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    else
        asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

static __device__ __forceinline__ void store_float(float *to, float x, uint64_t policy)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(x), "l"(policy)
                 : "memory");
#else
    *to = x;
#endif
}

/* `at` is the output's place in out and in the residual. */
static __device__ __forceinline__ float finish(const epilogue &e, float sum, int64_t filter,
                                               int64_t at)
{
    float x = e.bias ? sum + __ldg(e.bias + filter) : sum;
    if (e.residual)
        x += __ldg(e.residual + at);
    return clamp(x, e.lo, e.hi);
}

} // namespace csrconv

#endif
