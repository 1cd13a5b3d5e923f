/* The blocked direct convolution on vectors of 16 floats: AVX-512. */
#include "cpu_features.h"
#include "tile_isa.h"
#include "tiled.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))

enum { LANES = 16 };
typedef __m512 vector;

static inline TARGET vector load(const float *from)
{
    return _mm512_loadu_ps(from);
}

static inline TARGET void store(float *to, vector x)
{
    _mm512_store_ps(to, x);
}

static inline TARGET vector broadcast(float x)
{
    return _mm512_set1_ps(x);
}

static inline TARGET vector multiply_add(vector a, vector b, vector c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline TARGET vector add(vector a, vector b)
{
    return _mm512_add_ps(a, b);
}

static inline TARGET vector largest(vector a, vector b)
{
    return _mm512_max_ps(a, b);
}

static inline TARGET vector smallest(vector a, vector b)
{
    return _mm512_min_ps(a, b);
}

static inline TARGET vector load_some(const float *from, int64_t count)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1U << count) - 1), from);
}

static inline TARGET void store_unaligned(float *to, vector x)
{
    _mm512_storeu_ps(to, x);
}

static inline TARGET void store_streamed(float *to, vector x)
{
    _mm512_stream_ps(to, x);
}

static inline TARGET void store_some(float *to, vector x, int64_t count)
{
    _mm512_mask_storeu_ps(to, (__mmask16)((1U << count) - 1), x);
}

#include "tile_kernel.h"

/* 32 registers: 28 sums, a weight, and some for the compiler. */
DEFINE_TILE_KERNEL(avx512_1_vector, 1)
DEFINE_TILE_KERNEL(avx512_2_vectors, 2)
DEFINE_TILE_KERNEL(avx512_3_vectors, 3)
DEFINE_TILE_KERNEL(avx512_4_vectors, 4)
DEFINE_TILE_KERNEL(avx512_5_vectors, 5)
DEFINE_TILE_KERNEL(avx512_6_vectors, 6)
DEFINE_TILE_KERNEL(avx512_7_vectors, 7)
DEFINE_TILE_KERNEL(avx512_8_vectors, 8)
DEFINE_TILE_KERNEL(avx512_9_vectors, 9)
DEFINE_TILE_KERNEL(avx512_10_vectors, 10)
DEFINE_TILE_KERNEL(avx512_11_vectors, 11)
DEFINE_TILE_KERNEL(avx512_12_vectors, 12)
DEFINE_TILE_KERNEL(avx512_13_vectors, 13)
DEFINE_TILE_KERNEL(avx512_14_vectors, 14)
DEFINE_TILE_KERNEL(avx512_15_vectors, 15)
DEFINE_TILE_KERNEL(avx512_16_vectors, 16)
DEFINE_TILE_KERNEL(avx512_17_vectors, 17)
DEFINE_TILE_KERNEL(avx512_18_vectors, 18)
DEFINE_TILE_KERNEL(avx512_19_vectors, 19)
DEFINE_TILE_KERNEL(avx512_20_vectors, 20)
DEFINE_TILE_KERNEL(avx512_21_vectors, 21)
DEFINE_TILE_KERNEL(avx512_22_vectors, 22)
DEFINE_TILE_KERNEL(avx512_23_vectors, 23)
DEFINE_TILE_KERNEL(avx512_24_vectors, 24)
DEFINE_TILE_KERNEL(avx512_25_vectors, 25)
DEFINE_TILE_KERNEL(avx512_26_vectors, 26)
DEFINE_TILE_KERNEL(avx512_27_vectors, 27)
DEFINE_TILE_KERNEL(avx512_28_vectors, 28)

static const csrconv_tile_kernel kernels[] = {
    avx512_1_vector,   avx512_2_vectors,  avx512_3_vectors,  avx512_4_vectors,  avx512_5_vectors,
    avx512_6_vectors,  avx512_7_vectors,  avx512_8_vectors,  avx512_9_vectors,  avx512_10_vectors,
    avx512_11_vectors, avx512_12_vectors, avx512_13_vectors, avx512_14_vectors, avx512_15_vectors,
    avx512_16_vectors, avx512_17_vectors, avx512_18_vectors, avx512_19_vectors, avx512_20_vectors,
    avx512_21_vectors, avx512_22_vectors, avx512_23_vectors, avx512_24_vectors, avx512_25_vectors,
    avx512_26_vectors, avx512_27_vectors, avx512_28_vectors,
};

static inline TARGET vector low_pairs(vector a, vector b)
{
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

static inline TARGET vector high_pairs(vector a, vector b)
{
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

/* Single floats, then pairs, then the quarters of the registers in two steps. */
static TARGET void transpose(const float *from, int64_t from_stride, int64_t columns, float *to,
                             int64_t to_stride)
{
    vector a[LANES], b[LANES];
    UNROLLED
    for (int i = 0; i < LANES; i++)
        a[i] = load_some(from + i * from_stride, columns);
    UNROLLED
    for (int i = 0; i < LANES; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    UNROLLED
    for (int i = 0; i < LANES; i += 4) {
        a[i] = low_pairs(b[i], b[i + 2]);
        a[i + 1] = high_pairs(b[i], b[i + 2]);
        a[i + 2] = low_pairs(b[i + 1], b[i + 3]);
        a[i + 3] = high_pairs(b[i + 1], b[i + 3]);
    }
    UNROLLED
    for (int i = 0; i < 4; i++) {
        const vector even = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
        const vector odd = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd);
        const vector even_more = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
        const vector odd_more = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xdd);
        b[i] = _mm512_shuffle_f32x4(even, even_more, 0x88);
        b[i + 4] = _mm512_shuffle_f32x4(odd, odd_more, 0x88);
        b[i + 8] = _mm512_shuffle_f32x4(even, even_more, 0xdd);
        b[i + 12] = _mm512_shuffle_f32x4(odd, odd_more, 0xdd);
    }
    UNROLLED
    for (int i = 0; i < LANES; i++)
        if (i < columns)
            _mm512_storeu_ps(to + i * to_stride, b[i]);
}

static const struct csrconv_tile_isa isa = {
    .need = csrconv_need_avx512,
    .lanes = LANES,
    .most_vectors = sizeof kernels / sizeof *kernels,
    .unaligned_load = 1.8, /* 15 alignments of 16 cross */
    .kernels = kernels,
    .transpose = transpose,
    .finish = finish,
    .finish_streamed = finish_streamed,
    .settle = settle,
};

const struct csrconv_algorithm csrconv_algorithm_direct_avx512 = {
    .traits = &isa,
    .lanes = LANES,
    .info = { .name = "direct_avx512",
              .summary = "blocked stretched CSR on tiles of 16-float vectors",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = csrconv_tiled_estimate,
    .prepare = csrconv_tiled_prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};
