/*
 * The kernels of cuda_split. A block brings its list of nonzeros and its chunk of the input into
 * shared memory at once, walks them as cuda_tiled does, and gives its sums away. Latency counts:
 * launch, one trip to memory, the products, one exchange of sums. And as each instruction is
 * fetched anew by each launch, at about three bytes a clock, code that is short: loops in place of
 * straight lines, tables in place of index arithmetic.
 */
#ifndef CSRCONV_CUDA_SPLIT_KERNEL_CUH
#define CSRCONV_CUDA_SPLIT_KERNEL_CUH

#include "split_adding.cuh"
#include "split_staging.cuh"

enum { BARRIER_QUADS = 1 };

/* A warp's quads, which lie in shared memory. */
struct list_stream {
    const int4 *at;

    __device__ __forceinline__ int4 next()
    {
        return *at++;
    }
};

/* The warp's segments, one after the other: products, and the sums given away. */
template <int PIXELS, split_adding WAY>
static __device__ __forceinline__ void walk(const split_args &a, int chunk, const int4 *list,
                                            const float *stage, const gift &given)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int pixel_way = warp / a.filter_ways, way = warp - pixel_way * a.filter_ways;
    const char *base = reinterpret_cast<const char *>(stage + pixel_way * PIXELS * WARP + lane);
    enum { FIRST = (1 << CSRCONV_FIRST_BITS) - 1, PLACE = (1 << CSRCONV_PLACE_BITS) - 1 };
    const int begin = word_of(list, way), end = word_of(list, way + 1) & FIRST;
    list_stream stream = { list + (begin >> CSRCONV_FIRST_BITS) };
    in_hand<PIXELS> hand;
    hand.quad = stream.next();
    load_inputs(hand.inputs, base, hand.quad.x);
#pragma unroll 1
    for (int i = begin & FIRST; i < end; i++) {
        const int segment = word_of(list, a.at_segment + i);
        float sums[PIXELS] = {};
        add_filter(sums, base, segment >> CSRCONV_PLACE_BITS, hand, stream);
        give<PIXELS, WAY>(a, chunk, pixel_way * a.places + (segment & PLACE), sums, given);
    }
}

template <int PIXELS, split_adding WAY>
static __global__ void __launch_bounds__(CSRCONV_SPLIT_THREADS, 1)
    convolve_split(const __grid_constant__ split_args a)
{
    extern __shared__ __align__(16) int4 shared[];
    int4 *list = shared + BARRIER_QUADS, *outputs = list + a.list_quads;
    const gift given = { reinterpret_cast<uint64_t *>(shared),
                         reinterpret_cast<float4 *>(outputs + a.words / 4) };
    float *stage =
        reinterpret_cast<float *>(given.units + (WAY == IN_PASS ? 0 : a.share * a.chunks * WARP));
    const split_place b = place_of(a, a.chunks);
    let_next_begin();
    copy_quads(list_of(a, b), list, a.list_quads);
    copy_quads(reinterpret_cast<const int4 *>(a.outputs) + b.tile * (a.words / 4), outputs,
               a.words / 4);
    if (WAY == IN_CLUSTER)
        expect_given(given.barrier, share_of(a, b.chunk) * a.chunks);
    const filler f = filler_of(a, b, stage);
#pragma unroll 1
    for (int i = threadIdx.x; i < a.words; i += blockDim.x)
        stage[a.zeros + i] = 0.0F;
    wait_for_previous();
    fill_patch(a, f);
    csrconv::copies_commit();
    csrconv::copies_wait();
    __syncthreads();
    if (WAY == IN_CLUSTER)
        wait_for_cluster();
    walk<PIXELS, WAY>(a, b.chunk, list, stage, given);
    if (WAY != IN_PASS)
        add_given<WAY>(a, b, list, reinterpret_cast<const int32_t *>(outputs), given);
}

/* The second kernel: blocks in z share a tile. */
static __global__ void __launch_bounds__(CSRCONV_ADDING_THREADS)
    add_chunks(const __grid_constant__ split_args a)
{
    const int step = a.units * WARP, lane = threadIdx.x % WARP;
    const int64_t tile = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    const float4 *partial = a.partial + tile * a.chunks * step;
    const split_place b = place_of(a, 1);
    const int4 *list = list_of(a, b);
    const int32_t *outputs = a.outputs + static_cast<int64_t>(b.tile) * a.words;
    let_next_begin();
    wait_for_previous();
    for (int i = static_cast<int>(blockIdx.z * blockDim.x + threadIdx.x); i < step;
         i += static_cast<int>(gridDim.z * blockDim.x))
        store_sums(a, target_of(a, b, list, outputs, i / WARP, lane),
                   add_up(partial + i, step, a.chunks));
}

#endif
