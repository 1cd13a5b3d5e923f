/*
 * The kernel of cuda_tiled. Producer warps bring the patch of a few input channels after the
 * other into shared memory, zero borders included; consumer warps walk the nonzeros of several
 * filters over it and hold the sums of `PIXELS` outputs of each filter in every lane. An input
 * element is loaded from memory once for all filters of the block, and an (offset, value) once for
 * all outputs of the warp.
 */
#ifndef CSRCONV_CUDA_TILED_KERNEL_CUH
#define CSRCONV_CUDA_TILED_KERNEL_CUH

#include "tiled_staging.cuh"
#include "tiled_store.cuh"
#include "tiled_stream.cuh"

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
template <int PIXELS, bool STAGED>
static __device__ __forceinline__ void add_quad(float (&sums)[PIXELS], const char *base,
                                                const in_hand<PIXELS> &hand, in_hand<PIXELS> &other,
                                                quad_stream<STAGED> &stream)
{
    float second[PIXELS];
    other.quad = stream.next();
    load_inputs(second, base, hand.quad.z);
    add_products(sums, hand.inputs, hand.quad.y);
    load_inputs(other.inputs, base, other.quad.x);
    add_products(sums, second, hand.quad.w);
}

template <int PIXELS, bool STAGED>
static __device__ __forceinline__ void add_filter(float (&sums)[PIXELS], const char *base,
                                                  int quads, in_hand<PIXELS> &hand,
                                                  quad_stream<STAGED> &stream)
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

template <int FILTERS, int PIXELS, bool STAGED>
static __device__ void consume(const tiled_args &a, int64_t list, const csrconv::stage_ring &ring,
                               quad_stream<STAGED> &stream, const float *stages)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int first_word = warp / a.filter_ways * PIXELS * WARP + lane;
    float sums[FILTERS][PIXELS] = {};
    stream.start();
    csrconv::ring_place place = { 0, 0 };
    for (int stage = 0; stage < a.stages; stage++, place.step(a.ring)) {
        const char *base =
            reinterpret_cast<const char *>(stages + place.slot * a.stage_floats + first_word);
        const int4 counts = stream.next();
        in_hand<PIXELS> hand;
        hand.quad = stream.next();
        csrconv::ring_wait_full(ring, place);
        load_inputs(hand.inputs, base, hand.quad.x);
#pragma unroll
        for (int f = 0; f < FILTERS; f++)
            add_filter(sums[f], base, count_of(counts, f), hand, stream);
        __syncwarp();
        if (lane == 0)
            csrconv::barrier_arrive(&ring.empty[place.slot]);
    }
    /* Found out again, rather than kept in registers all the while. */
    store(a, place_of(a), a.places + first_word, a.filter + list * FILTERS, sums);
}

template <int FILTERS, int PIXELS, bool STAGED, int THREADS>
static __global__ void __launch_bounds__(THREADS, 1)
    convolve_tiled(const __grid_constant__ tiled_args a)
{
    extern __shared__ __align__(16) uint64_t shared[];
    const int warp = threadIdx.x / WARP;
    const csrconv::stage_ring ring = { shared, shared + a.ring, shared + 2 * a.ring };
    int4 *parts = reinterpret_cast<int4 *>(reinterpret_cast<float *>(shared) + BARRIER_FLOATS);
    float *stages = reinterpret_cast<float *>(parts + a.consumers * 2 * STREAM_PART);
    const block_place b = place_of(a);
    if (threadIdx.x == 0)
        csrconv::ring_init(ring, a.ring, blockDim.x, a.producers, a.consumers);
    const int way = warp < a.consumers ? warp : 0;
    const int64_t list = static_cast<int64_t>(b.filter_tile) * a.filter_ways + way % a.filter_ways;
    quad_stream<STAGED> stream(a.quads + __ldg(a.start + list), parts + way * 2 * STREAM_PART);
    if (warp < a.consumers)
        stream.begin();
    fill_first(a, b, ring, stages);
    if (warp < a.consumers)
        consume<FILTERS, PIXELS>(a, list, ring, stream, stages);
    else
        produce(a, b, ring, stages, threadIdx.x - a.consumers * WARP);
}

#endif
