/*
 * The kernels of cuda_split. A block brings its list of nonzeros and its chunk of the input into
 * shared memory at once, walks them as cuda_tiled does, and gives its sums away. Latency counts:
 * launch, one trip to memory, the products, one exchange of sums.
 */
#ifndef CSRCONV_CUDA_SPLIT_KERNEL_CUH
#define CSRCONV_CUDA_SPLIT_KERNEL_CUH

#include "split_adding.cuh"
#include "split_staging.cuh"

/* A warp's quads, which lie in shared memory. */
struct list_stream {
    const int4 *at;

    __device__ __forceinline__ int4 next()
    {
        return *at++;
    }
};

template <int FILTERS, int PIXELS>
static __device__ __forceinline__ void walk(const split_args &a, const int4 *list,
                                            const float *stage, float (&sums)[FILTERS][PIXELS])
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int pixel_way = warp / a.filter_ways, way = warp - pixel_way * a.filter_ways;
    const char *base = reinterpret_cast<const char *>(stage + pixel_way * PIXELS * WARP + lane);
    list_stream stream = { list + start_of(list, way) };
    const int4 counts = stream.next();
    in_hand<PIXELS> hand;
    hand.quad = stream.next();
    load_inputs(hand.inputs, base, hand.quad.x);
#pragma unroll
    for (int f = 0; f < FILTERS; f++)
        add_filter(sums[f], base, count_of(counts, f), hand, stream);
}

template <int FILTERS, int PIXELS, split_adding WAY>
static __global__ void __launch_bounds__(CSRCONV_SPLIT_THREADS, 1)
    convolve_split(const __grid_constant__ split_args a)
{
    extern __shared__ __align__(16) int4 shared[];
    int4 *list = shared;
    float4 *given = reinterpret_cast<float4 *>(shared + a.list_quads);
    int64_t *outputs =
        reinterpret_cast<int64_t *>(given + (WAY == IN_PASS ? 0 : a.share * a.chunks * WARP));
    float *stage = reinterpret_cast<float *>(outputs + a.words);
    float sums[FILTERS][PIXELS] = {};
    fetch_args(a);
    let_next_begin();
    if (WAY == IN_CLUSTER)
        cluster_arrive_first();
    copy_list(a, list);
    const split_place b = place_of(a);
    fill_words(a, b, stage + a.zeros, outputs);
    wait_for_previous();
    fill_patch(a, b, stage);
    csrconv::copies_wait();
    __syncthreads();
    walk(a, list, stage, sums);
    if (WAY == IN_CLUSTER)
        cluster_wait(); /* all blocks of the cluster are there to be given sums */
    give<FILTERS, PIXELS, WAY>(a, list, sums, given);
    if (WAY == IN_CLUSTER) {
        cluster_arrive();
        cluster_wait();
        add_given(a, list, given, outputs);
    }
}

/* The second kernel: a thread for each lane's unit of a tile. */
static __global__ void __launch_bounds__(CSRCONV_SPLIT_THREADS)
    add_chunks(const __grid_constant__ split_args a)
{
    const int64_t items = static_cast<int64_t>(a.units) * WARP;
    const split_place b = tile_at(a, static_cast<int>(blockIdx.x));
    const int64_t tile = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    let_next_begin();
    wait_for_previous();
    for (int64_t i = threadIdx.x; i < items; i += blockDim.x) {
        const float4 *partial = a.partial + tile * a.chunks * items + i;
        const int unit = static_cast<int>(i / WARP);
        const int word = word_of(a, unit, static_cast<int>(i % WARP));
        float4 sum = *partial;
        int64_t at[UNIT];
#pragma unroll
        for (int j = 0; j < UNIT; j++)
            at[j] = j < pixels_of(a, unit) ? output_of(a, b, word + j * WARP) : -1;
        for (int chunk = 1; chunk < a.chunks; chunk++)
            add_to(sum, partial[chunk * items]);
        store_unit(a, list_of(a, b.filter_tile, 0), unit, sum, at);
    }
}

#endif
