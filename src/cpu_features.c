#include "cpu_features.h"

#include "status.h"

#include <string.h>

static int64_t usual_cache_bytes(int level)
{
    return level == 1 ? 32 << 10 : level == 2 ? 512 << 10 : 32 << 20;
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdatomic.h>

/* The leaves of Intel and of AMD that list the caches are laid out alike. */
static int64_t cache_in_leaf(unsigned leaf, int level)
{
    enum { NONE = 0, INSTRUCTIONS = 2 };
    unsigned kind, lines, sets, unused;
    for (unsigned i = 0; i < 8; i++) {
        if (!__get_cpuid_count(leaf, i, &kind, &lines, &sets, &unused) || (kind & 31) == NONE)
            return 0;
        if ((kind & 31) != INSTRUCTIONS && (kind >> 5 & 7) == (unsigned)level)
            return (int64_t)((lines >> 22) + 1) * ((lines >> 12 & 1023) + 1) *
                   ((lines & 4095) + 1) * ((int64_t)sets + 1);
    }
    return 0;
}

static int64_t ask_for_cache(int level)
{
    const int64_t intel = cache_in_leaf(4, level);
    const int64_t found = intel ? intel : cache_in_leaf(0x8000001dU, level);
    return found ? found : usual_cache_bytes(level);
}

/* Asked once: cpuid leaves a virtual machine, which takes as long as a small plan. */
int64_t csrconv_cache_bytes(int level)
{
    static _Atomic int64_t known[3];
    _Atomic int64_t *bytes = &known[level - 1];
    if (!atomic_load_explicit(bytes, memory_order_relaxed))
        atomic_store_explicit(bytes, ask_for_cache(level), memory_order_relaxed);
    return atomic_load_explicit(bytes, memory_order_relaxed);
}

void csrconv_cpu_name(char name[CSRCONV_CPU_NAME_BYTES])
{
    unsigned words[12] = { 0 };
    const char *text = (const char *)words;
    size_t length;
    for (unsigned i = 0; i < 3; i++)
        __get_cpuid(0x80000002U + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                    &words[4 * i + 3]);
    length = strnlen(text, sizeof words);
    for (; length > 0 && *text == ' '; text++)
        length--;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    memcpy(name, length ? text : "CPU", length ? length : 3);
    name[length ? length : 3] = '\0';
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

csrconv_status csrconv_need_avx2(void)
{
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "this is not an x86-64 processor");
}

csrconv_status csrconv_need_avx512(void)
{
    return csrconv_need_avx2();
}

int64_t csrconv_cache_bytes(int level)
{
    return usual_cache_bytes(level);
}

void csrconv_cpu_name(char name[CSRCONV_CPU_NAME_BYTES])
{
    memcpy(name, "CPU", 4);
}

#endif
