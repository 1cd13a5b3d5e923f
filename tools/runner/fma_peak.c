#include "fma_peak.h"

#include "clock.h"

#if defined(__x86_64__)

#include <immintrin.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Chains enough for two units of a latency of four or five clocks. */
enum { CHAINS = 12, STEPS = 1 << 18, RUNS = 5 };

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Both return something that depends on every step, so that none is left out. */
static __attribute__((target("avx2,fma"))) float run_avx2(void)
{
    __m256 chain[CHAINS], sum = _mm256_setzero_ps();
    const __m256 factor = _mm256_set1_ps(0.999F), term = _mm256_set1_ps(0.001F);
    UNROLLED
    for (int i = 0; i < CHAINS; i++)
        chain[i] = _mm256_set1_ps((float)i);
    for (int step = 0; step < STEPS; step++) {
        UNROLLED
        for (int i = 0; i < CHAINS; i++)
            chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
    }
    UNROLLED
    for (int i = 0; i < CHAINS; i++)
        sum = _mm256_add_ps(sum, chain[i]);
    return _mm256_cvtss_f32(sum);
}

static __attribute__((target("avx512f"))) float run_avx512(void)
{
    __m512 chain[CHAINS], sum = _mm512_setzero_ps();
    const __m512 factor = _mm512_set1_ps(0.999F), term = _mm512_set1_ps(0.001F);
    UNROLLED
    for (int i = 0; i < CHAINS; i++)
        chain[i] = _mm512_set1_ps((float)i);
    for (int step = 0; step < STEPS; step++) {
        UNROLLED
        for (int i = 0; i < CHAINS; i++)
            chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
    }
    UNROLLED
    for (int i = 0; i < CHAINS; i++)
        sum = _mm512_add_ps(sum, chain[i]);
    return _mm512_cvtss_f32(sum);
}

static double time_us(float (*run)(void), int threads)
{
    volatile float sink = 0.0F;
    const double start = clock_us();
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        const float result = run();
#ifdef _OPENMP
#pragma omp critical
#endif
        sink = result;
    }
    (void)sink;
    (void)threads;
    return clock_us() - start;
}

double fma_peak_gflops(int lanes, int threads)
{
    float (*const run)(void) = lanes == 16 ? run_avx512 : run_avx2;
    const double flop = 2.0 * CHAINS * STEPS * (double)lanes * (double)threads;
    double best = 0.0;
    if (lanes != 16 && lanes != 8)
        return 0.0;
    if (lanes == 16 ? !__builtin_cpu_supports("avx512f") : !__builtin_cpu_supports("fma"))
        return 0.0;
    for (int i = 0; i < RUNS; i++) {
        const double gflops = flop / time_us(run, threads) * 1e-3;
        if (gflops > best)
            best = gflops;
    }
    return best;
}

#else

double fma_peak_gflops(int lanes, int threads)
{
    (void)lanes;
    (void)threads;
    return 0.0;
}

#endif
