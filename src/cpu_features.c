#include "cpu_features.h"

#include "status.h"

enum { USUAL_CACHE_BYTES = 32 << 10 };

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdatomic.h>

/* The leaves of Intel and of AMD that list the caches are laid out alike. */
static int64_t cache_in_leaf(unsigned leaf)
{
    unsigned type, ways, sets, unused;
    for (unsigned i = 0; i < 8; i++) {
        if (!__get_cpuid_count(leaf, i, &type, &ways, &sets, &unused) || (type & 31) == 0)
            return 0;
        if ((type & 31) == 1 && (type >> 5 & 7) == 1) /* data, level 1 */
            return (int64_t)((ways >> 22) + 1) * ((ways >> 12 & 1023) + 1) * ((ways & 4095) + 1) *
                   ((int64_t)sets + 1);
    }
    return 0;
}

static int64_t ask_for_first_cache(void)
{
    const int64_t intel = cache_in_leaf(4);
    const int64_t found = intel ? intel : cache_in_leaf(0x8000001dU);
    return found ? found : USUAL_CACHE_BYTES;
}

/* Asked once: cpuid leaves a virtual machine, which takes as long as a small plan. */
int64_t csrconv_first_cache_bytes(void)
{
    static _Atomic int64_t known;
    int64_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (!bytes) {
        bytes = ask_for_first_cache();
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

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

#else

int64_t csrconv_first_cache_bytes(void)
{
    return USUAL_CACHE_BYTES;
}

#endif
