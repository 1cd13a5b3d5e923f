/*
 * How the blocks of cuda_split add what the chunks of channels gave: always in the order of the
 * chunks, so that results are the same bit for bit every time.
 */
#ifndef CSRCONV_CUDA_SPLIT_ADDING_CUH
#define CSRCONV_CUDA_SPLIT_ADDING_CUH

#include "split_args.cuh"
#include "stage_ring.cuh"

enum split_adding { IN_CLUSTER, IN_PASS };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
enum : bool { HAS_CLUSTERS = true };

static __device__ __forceinline__ void cluster_arrive_first()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

static __device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

static __device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Stores into the shared memory of the cluster's block `rank`, at the place of `to` in this one's.
 */
static __device__ __forceinline__ void store_to(float4 *to, int rank, const float4 &x)
{
    unsigned address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(address)
                 : "r"(csrconv::shared_address(to)), "r"(rank));
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x.x),
                 "f"(x.y), "f"(x.z), "f"(x.w)
                 : "memory");
}

/* Lets the stream's next kernel begin, as far as it does not wait for this one's results. */
static __device__ __forceinline__ void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* Until the kernels before are done and what they stored is there. */
static __device__ __forceinline__ void wait_for_previous()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
enum : bool { HAS_CLUSTERS = false };

/* One chunk only: blocks by themselves. */
static __device__ __forceinline__ void cluster_arrive_first()
{
}

static __device__ __forceinline__ void cluster_arrive()
{
    __syncthreads();
}

static __device__ __forceinline__ void cluster_wait()
{
}

static __device__ __forceinline__ void store_to(float4 *to, int, const float4 &x)
{
    *to = x;
}

static __device__ __forceinline__ void let_next_begin()
{
}

static __device__ __forceinline__ void wait_for_previous()
{
}
#endif

/* A unit is four of a lane's sums of one filter: outputs 4 g to 4 g + 3, or what there is of them.
 */
template <int PIXELS>
static __device__ __forceinline__ float4 unit_of(const float (&sums)[PIXELS], int g)
{
    const int j = g * UNIT;
    return float4{ sums[j], j + 1 < PIXELS ? sums[j + 1] : 0.0F,
                   j + 2 < PIXELS ? sums[j + 2] : 0.0F, j + 3 < PIXELS ? sums[j + 3] : 0.0F };
}

/* Gives a warp's sums of one filter to the blocks that add them, or to the second kernel. */
template <int PIXELS, split_adding WAY>
static __device__ __forceinline__ void give(const split_args &a, int chunk, int row,
                                            const float (&sums)[PIXELS], float4 *given)
{
    enum { UNITS = (PIXELS - 1) / UNIT + 1 };
    const int lane = threadIdx.x % WARP;
    const int64_t block = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
#pragma unroll
    for (int g = 0; g < UNITS; g++) {
        const int unit = row * UNITS + g, turn = csrconv_divide(a.by_chunks, unit);
        if (WAY == IN_PASS)
            a.partial[(block * a.units + unit) * WARP + lane] = unit_of(sums, g);
        else /* the blocks of the cluster take turns */
            store_to(given + (chunk * a.share + turn) * WARP + lane, unit - turn * a.chunks,
                     unit_of(sums, g));
    }
}

/* The word of the tile that the first of a lane's four sums belongs to; the others, 32 on each. */
static __device__ __forceinline__ int word_of(const split_args &a, int unit, int lane)
{
    const int pixel_way = unit >> (a.place_shift + a.unit_shift);
    const int g = unit & ((1 << a.unit_shift) - 1);
    return (pixel_way * a.pixels + g * UNIT) * WARP + lane;
}

/* Finishes and stores a unit's sums; outputs has where the words of the tile go. */
static __device__ __forceinline__ void store_unit(const split_args &a, const split_place &b,
                                                  const int4 *list, const int32_t *outputs,
                                                  int unit, int lane, const float4 &sum)
{
    const int place = (unit >> a.unit_shift) & ((1 << a.place_shift) - 1);
    const int pixels = a.pixels - (unit & ((1 << a.unit_shift) - 1)) * UNIT;
    const int64_t filter = filter_of(a, list, place);
    const int64_t first = b.image * a.out_stride + filter * a.out_plane;
    const int64_t end = (a.n - b.image) * a.out_stride; /* of the images that there are */
    const float bias = bias_of(a, list, place);
    const float x[UNIT] = { sum.x, sum.y, sum.z, sum.w };
    outputs += word_of(a, unit, lane);
    if (filter < 0)
        return;
#pragma unroll
    for (int i = 0; i < UNIT; i++) {
        const int output = i < pixels ? outputs[i * WARP] : -1;
        float y = x[i] + bias;
        if (output < 0 || output >= end)
            continue;
        if (a.epilogue.residual)
            y += __ldg(a.epilogue.residual + first + output);
        a.out[first + output] = csrconv::clamp(y, a.epilogue.lo, a.epilogue.hi);
    }
}

static __device__ __forceinline__ void add_to(float4 &sum, const float4 &x)
{
    sum.x += x.x;
    sum.y += x.y;
    sum.z += x.z;
    sum.w += x.w;
}

/* The block's share of its tile's outputs, from what all blocks of the cluster gave. */
static __device__ __forceinline__ void add_given(const split_args &a, const split_place &b,
                                                 const int4 *list, const int32_t *outputs,
                                                 const float4 *given)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < a.share * WARP; i += blockDim.x) {
        const int unit = i / WARP * a.chunks + b.chunk;
        float4 sum = given[i];
        if (unit >= a.units)
            return;
#pragma unroll 1
        for (int from = 1; from < a.chunks; from++)
            add_to(sum, given[from * a.share * WARP + i]);
        store_unit(a, b, list, outputs, unit, i % WARP, sum);
    }
}

#endif
