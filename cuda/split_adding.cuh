/*
 * How the blocks of cuda_split add what the chunks of channels gave: always in the order of the
 * chunks, so that results are the same bit for bit every time.
 */
#ifndef CSRCONV_CUDA_SPLIT_ADDING_CUH
#define CSRCONV_CUDA_SPLIT_ADDING_CUH

#include "split_args.cuh"
#include "stage_ring.cuh"

enum split_adding { IN_CLUSTER, IN_PASS };

/*
 * What the blocks of a cluster give one another: asynchronous stores into the other's shared
 * memory, which count the bytes at its barrier. A fence at the cluster's own barrier would cost
 * more than the sums. A GPU without clusters has blocks by themselves, each with its one chunk.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* By all threads: this block's barrier waits for `bytes`. Others must know before they give. */
static __device__ __forceinline__ void expect_given(uint64_t *barrier, int bytes)
{
    if (threadIdx.x == 0) {
        csrconv::barrier_init(barrier, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(
                         csrconv::shared_address(barrier)),
                     "r"(bytes)
                     : "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/* Until all blocks of the cluster have begun, and expect something. */
static __device__ __forceinline__ void wait_for_cluster()
{
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

/* To the block `rank`, at the place of `to` in this block's memory. */
static __device__ __forceinline__ void give_to(uint64_t *barrier, float4 *to, int rank,
                                               const float4 &x)
{
    asm volatile("{\n"
                 ".reg .b32 there, barrier;\n"
                 "mapa.shared::cluster.u32 there, %0, %2;\n"
                 "mapa.shared::cluster.u32 barrier, %1, %2;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                 "[there], {%3, %4, %5, %6}, [barrier];\n"
                 "}" ::"r"(csrconv::shared_address(to)),
                 "r"(csrconv::shared_address(barrier)), "r"(rank), "f"(x.x), "f"(x.y), "f"(x.z),
                 "f"(x.w)
                 : "memory");
}

static __device__ __forceinline__ void wait_for_given(uint64_t *barrier)
{
    csrconv::barrier_wait(barrier, 0);
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
static __device__ __forceinline__ void expect_given(uint64_t *, int)
{
}

static __device__ __forceinline__ void wait_for_cluster()
{
}

static __device__ __forceinline__ void give_to(uint64_t *, float4 *to, int, const float4 &x)
{
    *to = x;
}

static __device__ __forceinline__ void wait_for_given(uint64_t *)
{
    __syncthreads();
}

static __device__ __forceinline__ void let_next_begin()
{
}

static __device__ __forceinline__ void wait_for_previous()
{
}
#endif

/* What the blocks of a cluster give this one. */
struct gift {
    uint64_t *barrier;
    float4 *units; /* chunk, unit of this block's share, lane */
};

/* Units that the block of a chunk adds: it takes turns with the others. */
static __device__ __forceinline__ int share_of(const split_args &a, int chunk)
{
    return csrconv_divide(a.by_chunks, a.units - chunk + a.chunks - 1);
}

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
                                            const float (&sums)[PIXELS], const gift &given)
{
    enum { UNITS = (PIXELS - 1) / UNIT + 1 };
    const int lane = threadIdx.x % WARP;
    const int64_t block = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
#pragma unroll
    for (int g = 0; g < UNITS; g++) {
        const int unit = row * UNITS + g, turn = csrconv_divide(a.by_chunks, unit);
        if (WAY == IN_PASS)
            a.partial[(block * a.units + unit) * WARP + lane] = unit_of(sums, g);
        else
            give_to(given.barrier, given.units + (chunk * a.share + turn) * WARP + lane,
                    unit - turn * a.chunks, unit_of(sums, g));
    }
}

/* One of the 128 sums of a unit: which of a lane's four, and the lane. */
struct unit_sum {
    int unit, quarter, lane;
};

/* Sums that neighbouring threads finish belong to neighbouring outputs. */
static __device__ __forceinline__ unit_sum sum_at(int i)
{
    return unit_sum{ i / (UNIT * WARP), i / WARP % UNIT, i % WARP };
}

/* Where the sum lies among the floats of its unit. */
static __device__ __forceinline__ int float_of(const unit_sum &at)
{
    return at.lane * UNIT + at.quarter;
}

/* Finishes and stores a sum; outputs has where the words of the tile go. */
static __device__ __forceinline__ void store_sum(const split_args &a, const split_place &b,
                                                 const int4 *list, const int32_t *outputs,
                                                 const unit_sum &at, float sum)
{
    const int g = at.unit & ((1 << a.unit_shift) - 1), row = at.unit >> a.unit_shift;
    const int place = row & ((1 << a.place_shift) - 1), pixel_way = row >> a.place_shift;
    const int pixel = g * UNIT + at.quarter;
    const int filter = filter_of(a, list, place);
    if (pixel >= a.pixels || filter < 0)
        return;
    const int output = outputs[(pixel_way * a.pixels + pixel) * WARP + at.lane];
    if (output < 0 || output >= (a.n - b.image) * a.out_stride)
        return; /* nowhere, or in an image that is not there */
    const int64_t to = b.image * a.out_stride + filter * a.out_plane + output;
    sum += bias_of(a, list, place);
    if (a.epilogue.residual)
        sum += __ldg(a.epilogue.residual + to);
    a.out[to] = csrconv::clamp(sum, a.epilogue.lo, a.epilogue.hi);
}

/* The block's share of its tile's outputs, from what all blocks of the cluster gave. */
static __device__ __forceinline__ void add_given(const split_args &a, const split_place &b,
                                                 const int4 *list, const int32_t *outputs,
                                                 const float *given)
{
    const int step = a.share * UNIT * WARP; /* from what a chunk gave to the next's */
#pragma unroll 1
    for (int i = threadIdx.x; i < step; i += blockDim.x) {
        unit_sum at = sum_at(i);
        const float *from = given + at.unit * UNIT * WARP + float_of(at);
        float sum = *from;
        at.unit = at.unit * a.chunks + b.chunk;
        if (at.unit >= a.units)
            return;
#pragma unroll 1
        for (int chunk = 1; chunk < a.chunks; chunk++)
            sum += *(from += step);
        store_sum(a, b, list, outputs, at, sum);
    }
}

#endif
