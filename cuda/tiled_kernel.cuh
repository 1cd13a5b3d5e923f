/*
 * The kernel of cuda_tiled. Producer warps bring the patch of a few input channels after the
 * other into shared memory, zero borders included; consumer warps walk the nonzeros of several
 * filters over it and hold the sums of `PIXELS` outputs of each filter in every lane. An input
 * element is loaded from memory once for all filters of the block, and an (offset, value) once for
 * all outputs of the warp.
 */
#ifndef CSRCONV_CUDA_TILED_KERNEL_CUH
#define CSRCONV_CUDA_TILED_KERNEL_CUH

#include "products.cuh"
#include "tiled_staging.cuh"
#include "tiled_store.cuh"
#include "tiled_stream.cuh"

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
