/*
 * How the blocks of cuda_split add what the chunks of channels gave: always in the order of the
 * chunks, so that results are the same bit for bit every time.
 */
#ifndef CSRCONV_CUDA_SPLIT_ADDING_CUH
#define CSRCONV_CUDA_SPLIT_ADDING_CUH

#include "split_args.cuh"
#include "stage_ring.cuh"

enum split_adding { ALONE, IN_CLUSTER, IN_PASS };

/*
 * What the blocks of a cluster give one another: asynchronous stores into the other's shared
 * memory, which count the bytes at its barrier. A fence at the cluster's own barrier would cost
 * more than the sums. Where there are no clusters, no kernel that does this is launched.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* By all threads: this block's barrier waits for so many units. Others must know before they give.
 */
static __device__ __forceinline__ void expect_given(uint64_t *barrier, int units)
{
    if (threadIdx.x == 0) {
        csrconv::barrier_init(barrier, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(
                         csrconv::shared_address(barrier)),
                     "r"(units * WARP * static_cast<int>(sizeof(float4)))
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

static __device__ __forceinline__ void give_to(uint64_t *, float4 *, int, const float4 &)
{
}

static __device__ __forceinline__ void wait_for_given(uint64_t *)
{
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

/* A unit is four of a lane's sums of one filter: outputs 4 g to 4 g + 3, as far as there are. */
template <int PIXELS>
static __device__ __forceinline__ float4 unit_of(const float (&sums)[PIXELS], int g)
{
    const int j = g * UNIT;
    return float4{ sums[j], j + 1 < PIXELS ? sums[j + 1] : 0.0F,
                   j + 2 < PIXELS ? sums[j + 2] : 0.0F, j + 3 < PIXELS ? sums[j + 3] : 0.0F };
}

/* Gives a warp's sums of one segment to the blocks that add them, or to the second kernel. */
template <int PIXELS, split_adding WAY>
static __device__ __forceinline__ void give(const split_args &a, int chunk, int row,
                                            const float (&sums)[PIXELS], const gift &given)
{
    enum { UNITS = (PIXELS - 1) / UNIT + 1 };
    const int lane = threadIdx.x % WARP;
    const int64_t block = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    float4 *to = given.units + lane;
#pragma unroll
    for (int g = 0; g < UNITS; g++) {
        const int unit = row * UNITS + g, turn = csrconv_divide(a.by_chunks, unit);
        if (WAY == IN_PASS)
            a.partial[(block * a.units + unit) * WARP + lane] = unit_of(sums, g);
        else if (WAY == ALONE)
            to[unit * WARP] = unit_of(sums, g);
        else
            give_to(given.barrier, to + (chunk * a.share + turn) * WARP, unit - turn * a.chunks,
                    unit_of(sums, g));
    }
}

/* Where the four sums of a lane's unit go, and what is added to them. */
struct target {
    float *out;       /* of the tile's first image, the filter's plane */
    int output[UNIT]; /* counted from there; -1: nowhere */
    float bias, residual[UNIT];
};

/* outputs has where the words of the tile go. */
static __device__ __forceinline__ target target_of(const split_args &a, const split_place &b,
                                                   const int4 *list, const int32_t *outputs,
                                                   int unit, int lane)
{
    const int g = unit & ((1 << a.unit_shift) - 1), row = unit >> a.unit_shift;
    const int pixel_way = csrconv_divide(a.by_places, row), place = row - pixel_way * a.places;
    const int filter = unit < a.units ? word_of(list, a.at_filter + place) : -1;
    const int pixels = filter < 0 ? 0 : a.pixels - g * UNIT;
    const int64_t end = (a.n - b.image) * a.out_stride; /* of the images that are there */
    const int64_t first = b.image * a.out_stride + filter * a.out_plane;
    target t = { a.out + first, {}, 0.0F, {} };
    if (filter >= 0)
        t.bias = __int_as_float(word_of(list, a.at_bias + place));
    outputs += (pixel_way * a.pixels + g * UNIT) * WARP + lane;
#pragma unroll
    for (int i = 0; i < UNIT; i++) {
        t.output[i] = i < pixels ? outputs[i * WARP] : -1;
        t.output[i] = t.output[i] < end ? t.output[i] : -1;
        if (a.epilogue.residual && t.output[i] >= 0)
            t.residual[i] = __ldg(a.epilogue.residual + first + t.output[i]);
    }
    return t;
}

static __device__ __forceinline__ void store_sums(const split_args &a, const target &t,
                                                  const float4 &sums)
{
    const float x[UNIT] = { sums.x, sums.y, sums.z, sums.w };
#pragma unroll
    for (int i = 0; i < UNIT; i++) {
        float y = x[i] + t.bias;
        if (a.epilogue.residual)
            y += t.residual[i];
        if (t.output[i] >= 0)
            t.out[t.output[i]] = csrconv::clamp(y, a.epilogue.lo, a.epilogue.hi);
    }
}

/* The sums of all chunks, in their order, `step` units apart. */
static __device__ __forceinline__ float4 add_up(const float4 *from, int step, int chunks)
{
    float4 x[CSRCONV_MOST_CHUNKS];
#pragma unroll
    for (int i = 0; i < CSRCONV_MOST_CHUNKS; i++, from += step)
        x[i] = i < chunks ? *from : float4{ 0.0F, 0.0F, 0.0F, 0.0F };
    float4 sum = x[0];
#pragma unroll
    for (int i = 1; i < CSRCONV_MOST_CHUNKS; i++) {
        if (i >= chunks)
            continue;
        sum.x += x[i].x;
        sum.y += x[i].y;
        sum.z += x[i].z;
        sum.w += x[i].w;
    }
    return sum;
}

/* The target of the i-th float4 that the block adds. */
static __device__ __forceinline__ target share_target(const split_args &a, const split_place &b,
                                                      const int4 *list, const int32_t *outputs,
                                                      int i)
{
    return target_of(a, b, list, outputs, i / WARP * a.chunks + b.chunk, i % WARP);
}

/*
 * The block's share of its tile's outputs, from what all blocks of the cluster give. Where they go
 * is worked out before that is waited for.
 */
template <split_adding WAY>
static __device__ __forceinline__ void add_given(const split_args &a, const split_place &b,
                                                 const int4 *list, const int32_t *outputs,
                                                 const gift &given)
{
    const int step = a.share * WARP; /* from what a chunk gave to the next's */
    int i = threadIdx.x;
    target t = {};
    if (i < step)
        t = share_target(a, b, list, outputs, i);
    if (WAY == ALONE)
        __syncthreads();
    else
        wait_for_given(given.barrier);
#pragma unroll 1
    while (i < step) {
        store_sums(a, t, add_up(given.units + i, step, a.chunks));
        i += blockDim.x;
        if (i < step)
            t = share_target(a, b, list, outputs, i);
    }
}

#endif
