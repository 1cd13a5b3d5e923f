#include "cpu_features.h"

#include "status.h"

#if defined(__x86_64__)

csrconv_status csrconv_need_avx2(void)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "this processor has no AVX2 with FMA");
}

csrconv_status csrconv_need_avx512(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "this processor has no AVX-512");
}

#endif
