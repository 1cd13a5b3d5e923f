/*
 * The inner loop of the kernels that walk streams of quads (quads.h) over a patch in shared
 * memory. A STREAM has next(), which gives the warp its next quad.
 */
#ifndef CSRCONV_CUDA_PRODUCTS_CUH
#define CSRCONV_CUDA_PRODUCTS_CUH

#include "core.h"

enum { WARP = 32 };

/* The inputs of a nonzero for all passes: 32 words apart from the lane's first. */
template <int PIXELS>
static __device__ __forceinline__ void load_inputs(float (&inputs)[PIXELS], const char *base,
                                                   int offset)
{
    const float *at = reinterpret_cast<const float *>(base + offset);
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        inputs[j] = at[j * WARP];
}

template <int PIXELS>
static __device__ __forceinline__ void add_products(float (&sums)[PIXELS],
                                                    const float (&inputs)[PIXELS], int bits)
{
    const float value = __int_as_float(bits);
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        sums[j] = fmaf(value, inputs[j], sums[j]);
}

/*
 * What a warp has in its hands between two nonzeros: a quad and the inputs of its first nonzero.
 * The inputs of a nonzero are loaded while the one before is multiplied, also from the last of a
 * filter to the first of the next.
 */
template <int PIXELS> struct in_hand {
    int4 quad;
    float inputs[PIXELS];
};

/* Multiplies what is in hand, and takes the next into the other hand. */
template <int PIXELS, typename STREAM>
static __device__ __forceinline__ void add_quad(float (&sums)[PIXELS], const char *base,
                                                const in_hand<PIXELS> &hand, in_hand<PIXELS> &other,
                                                STREAM &stream)
{
    float second[PIXELS];
    other.quad = stream.next();
    load_inputs(second, base, hand.quad.z);
    add_products(sums, hand.inputs, hand.quad.y);
    load_inputs(other.inputs, base, other.quad.x);
    add_products(sums, second, hand.quad.w);
}

template <int PIXELS, typename STREAM>
static __device__ __forceinline__ void add_filter(float (&sums)[PIXELS], const char *base,
                                                  int quads, in_hand<PIXELS> &hand, STREAM &stream)
{
    in_hand<PIXELS> other;
#pragma unroll 1
    for (; quads >= 2; quads -= 2) {
        add_quad(sums, base, hand, other, stream);
        add_quad(sums, base, other, hand, stream);
    }
    if (quads) {
        add_quad(sums, base, hand, other, stream);
        hand = other;
    }
}

/* How many quads the warp's filter f has in a stage: 16 bits of the stage's first quad. */
static __device__ __forceinline__ int count_of(const int4 &counts, int f)
{
    const int word = f / 2 == 0   ? counts.x
                     : f / 2 == 1 ? counts.y
                     : f / 2 == 2 ? counts.z
                                  : counts.w;
    return word >> f % 2 * 16 & 0xffff;
}

#endif
