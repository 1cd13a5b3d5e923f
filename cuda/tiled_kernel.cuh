/*
 * The kernel of cuda_tiled. Producer warps bring the patch of a few input channels after the
 * other into shared memory, zero borders included; consumer warps walk the nonzeros of several
 * filters over it and hold the sums of `PIXELS` outputs of each filter in every lane. An input
 * element is loaded from memory once for all filters of the block, and an (offset, value) once for
 * all outputs of the warp.
 */
#ifndef CSRCONV_CUDA_TILED_KERNEL_CUH
#define CSRCONV_CUDA_TILED_KERNEL_CUH

#include "epilogue.cuh"
#include "stage_ring.cuh"

extern "C" {
#include "block_tiling.h"
#include "row_streams.h"
}

enum { WARP = 32, BARRIER_FLOATS = 64 };

/* Everything that a launch needs; sizes of a block's own things are ints. */
struct tiled_args {
    const int4 *quads;
    const int64_t *start;  /* of a warp's stream in quads */
    const int64_t *filter; /* of a warp, FILTERS of them, -1: none */
    const csrconv_slot *slots;
    const float *in;
    float *out;
    csrconv::epilogue epilogue;
    csrconv_patch patch;
    int64_t n, in_stride, out_stride;
    int64_t height, width, plane, pad_top, pad_left, group_channels;
    int64_t out_h, out_w, out_plane;
    int64_t filter_tiles, group_filter_tiles; /* of all groups, and of one */
    int64_t row_tiles, column_tiles;
    int filter_ways, consumers; /* warps */
    int producers;              /* threads */
    int ring, stages, stage_channels, stage_floats;
    int vector;        /* floats in a copy */
    bool is_streaming; /* results leave the caches first */
};

/* A block's place in the convolution, in outputs and in input rows and columns. */
struct block_place {
    int64_t filter_tile; /* counted through the groups */
    int64_t group;
    int64_t image, row, column;      /* the tile's first output */
    int images;                      /* that the batch still has for it */
    int top, bottom, left, right;    /* what of the patch lies inside the image */
    int64_t input_row, input_column; /* where the patch's first row and column lie */
};

static __device__ int clamp_to(int64_t x, int64_t most)
{
    return static_cast<int>(x < 0 ? 0 : x > most ? most : x);
}

static __device__ block_place place_of(const tiled_args &a, int64_t block)
{
    const csrconv_patch &p = a.patch;
    block_place b;
    b.filter_tile = block % a.filter_tiles;
    block /= a.filter_tiles;
    b.group = b.filter_tile / a.group_filter_tiles;
    b.column = block % a.column_tiles * p.columns;
    block /= a.column_tiles;
    b.row = block % a.row_tiles * p.rows;
    b.image = block / a.row_tiles * p.images;
    b.images = static_cast<int>(a.n - b.image < p.images ? a.n - b.image : p.images);
    b.input_row = b.row * p.stride_h - a.pad_top;
    b.input_column = b.column * p.stride_w - a.pad_left;
    b.top = clamp_to(-b.input_row, p.height);
    b.bottom = clamp_to(a.height - b.input_row, p.height);
    b.left = clamp_to(-b.input_column, p.width);
    b.right = clamp_to(a.width - b.input_column, p.width);
    return b;
}

/* Zeros where the patch lies outside the image: in all stages, once, as no copy writes there. */
static __device__ void clear_borders(const tiled_args &a, const block_place &b, float *ring)
{
    const int width = static_cast<int>(a.patch.width), height = static_cast<int>(a.patch.height);
    const int channels = static_cast<int>(a.ring * a.stage_channels);
    for (int i = threadIdx.x; i < b.images * height * width; i += blockDim.x) {
        const int x = i % width, y = i / width % height, image = i / width / height;
        float *at = ring + a.patch.lead + image * a.patch.image_pitch + y * a.patch.pitch + x;
        if (y >= b.top && y < b.bottom && x >= b.left && x < b.right)
            continue;
        for (int c = 0; c < channels; c++)
            at[c * a.patch.channel_pitch] = 0.0F;
    }
}

/* ------------------------------------------------------------------------------------ producers
 */

/*
 * The inside of one channel's patch is `elements` pieces of FLOATS floats. Threads take
 * neighbouring pieces; where there are more threads than pieces, they share the stage's channels,
 * too.
 */
template <int FLOATS>
static __device__ void fill_stage(const tiled_args &a, const block_place &b, int64_t channel,
                                  float *stage, int thread)
{
    const int left = static_cast<int>(a.group_channels - channel);
    const int channels = left < a.stage_channels ? left : a.stage_channels;
    const int across = (b.right - b.left + FLOATS - 1) / FLOATS, down = b.bottom - b.top;
    const int elements = b.images * down * across;
    const int wide = elements < a.producers ? elements : a.producers;
    const int sharing = wide ? a.producers / wide : 0;
    const float *planes = a.in + b.image * a.in_stride +
                          (b.group * a.group_channels + channel) * a.plane +
                          (b.input_row + b.top) * a.width + b.input_column + b.left;
    float *patch = stage + a.patch.lead + b.top * a.patch.pitch + b.left;
    if (!wide || thread >= wide * sharing)
        return;
    for (int i = thread % wide; i < elements; i += wide) {
        const int x = i % across * FLOATS, y = i / across % down, image = i / across / down;
        const float *from = planes + image * a.in_stride + y * a.width + x;
        float *to = patch + image * a.patch.image_pitch + y * a.patch.pitch + x;
#pragma unroll 4
        for (int c = thread / wide; c < channels; c += sharing)
            csrconv::copy_floats<FLOATS>(to + c * a.patch.channel_pitch, from + c * a.plane);
    }
}

template <int FLOATS>
static __device__ void produce(const tiled_args &a, const block_place &b,
                               const csrconv::stage_ring &ring, float *stages, int thread)
{
    for (int stage = 0; stage < a.stages; stage++) {
        const int slot = stage % a.ring, round = stage / a.ring;
        if (round > 0)
            csrconv::barrier_wait(&ring.empty[slot], (round - 1) & 1);
        fill_stage<FLOATS>(a, b, static_cast<int64_t>(stage) * a.stage_channels,
                           stages + slot * a.stage_floats, thread);
        csrconv::barrier_arrive_by_copies(&ring.full[slot]);
    }
}

/* ------------------------------------------------------------------------------------ consumers
 */

/* A warp's stream of quads; AHEAD: two of them are on their way while one is worked on. */
template <bool AHEAD> struct quad_stream {
    const int4 *at;
    int4 first, second;

    __device__ explicit quad_stream(const int4 *begin) : at(begin)
    {
        if (AHEAD) {
            first = __ldg(at);
            second = __ldg(at + 1);
            at += 2;
        }
    }

    __device__ int4 next()
    {
        int4 quad;
        if (!AHEAD)
            return __ldg(at++);
        quad = first;
        first = second;
        second = __ldg(at++);
        return quad;
    }
};

template <int PIXELS>
static __device__ __forceinline__ void add_products(float (&sums)[PIXELS], const char *stage,
                                                    const int (&windows)[PIXELS], int offset,
                                                    int bits)
{
    const float value = __int_as_float(bits);
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        sums[j] =
            fmaf(value, *reinterpret_cast<const float *>(stage + (offset + windows[j])), sums[j]);
}

/* The nonzeros of one filter in one stage. */
template <int PIXELS, bool AHEAD>
static __device__ __forceinline__ void add_filter(float (&sums)[PIXELS], const char *stage,
                                                  const int (&windows)[PIXELS], int count,
                                                  quad_stream<AHEAD> &stream)
{
    for (; count >= 2; count -= 2) {
        const int4 quad = stream.next();
        add_products(sums, stage, windows, quad.x, quad.y);
        add_products(sums, stage, windows, quad.z, quad.w);
    }
    if (count) {
        const int4 quad = stream.next();
        add_products(sums, stage, windows, quad.x, quad.y);
    }
}

/* How many nonzeros the warp's filter f has in a stage: 16 bits of the quad that comes before. */
static __device__ __forceinline__ int count_of(const int4 &counts, int f)
{
    const int word = f / 2 == 0   ? counts.x
                     : f / 2 == 1 ? counts.y
                     : f / 2 == 2 ? counts.z
                                  : counts.w;
    return word >> f % 2 * 16 & 0xffff;
}

template <int FILTERS, int PIXELS>
static __device__ void store(const tiled_args &a, const block_place &b, const csrconv_slot *slots,
                             const int64_t *filters, const float (&sums)[FILTERS][PIXELS])
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        const int place = slots[j * WARP].place;
        const int image = place >> 20, row = place >> 10 & 1023, column = place & 1023;
        const int64_t y = b.row + row, x = b.column + column;
        const int64_t pixel = (b.image + image) * a.out_stride + y * a.out_w + x;
        if (place < 0 || image >= b.images || y >= a.out_h || x >= a.out_w)
            continue;
#pragma unroll
        for (int f = 0; f < FILTERS; f++) {
            const int64_t filter = __ldg(filters + f);
            const int64_t at = pixel + filter * a.out_plane;
            if (filter < 0)
                continue;
            if (a.is_streaming)
                __stcs(a.out + at, csrconv::finish(a.epilogue, sums[f][j], filter, at));
            else
                a.out[at] = csrconv::finish(a.epilogue, sums[f][j], filter, at);
        }
    }
}

template <int FILTERS, int PIXELS, bool AHEAD>
static __device__ void consume(const tiled_args &a, const block_place &b,
                               const csrconv::stage_ring &ring, const float *stages)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int64_t list = b.filter_tile * a.filter_ways + warp % a.filter_ways;
    const csrconv_slot *slots = a.slots + warp / a.filter_ways * PIXELS * WARP + lane;
    quad_stream<AHEAD> stream(a.quads + __ldg(a.start + list));
    float sums[FILTERS][PIXELS] = {};
    int windows[PIXELS];
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        windows[j] = slots[j * WARP].offset;
    for (int stage = 0; stage < a.stages; stage++) {
        const int slot = stage % a.ring;
        const char *at = reinterpret_cast<const char *>(stages + slot * a.stage_floats);
        const int4 counts = stream.next();
        csrconv::barrier_wait(&ring.full[slot], stage / a.ring & 1);
#pragma unroll
        for (int f = 0; f < FILTERS; f++)
            add_filter(sums[f], at, windows, count_of(counts, f), stream);
        __syncwarp();
        if (lane == 0)
            csrconv::barrier_arrive(&ring.empty[slot]);
    }
    store(a, b, slots, a.filter + list * FILTERS, sums);
}

template <int FILTERS, int PIXELS, bool AHEAD, int THREADS>
static __global__ void __launch_bounds__(THREADS, 1)
    convolve_tiled(const __grid_constant__ tiled_args a, int64_t first_block)
{
    extern __shared__ __align__(16) uint64_t shared[];
    const int consumers = a.consumers;
    const csrconv::stage_ring ring = { shared, shared + a.ring, a.producers, consumers };
    float *stages = reinterpret_cast<float *>(shared) + BARRIER_FLOATS;
    const block_place b = place_of(a, first_block + blockIdx.x);
    if (threadIdx.x == 0)
        csrconv::ring_init(ring, a.ring);
    clear_borders(a, b, stages);
    __syncthreads();
    if (threadIdx.x < consumers * WARP)
        consume<FILTERS, PIXELS, AHEAD>(a, b, ring, stages);
    else if (a.vector == 4)
        produce<4>(a, b, ring, stages, threadIdx.x - consumers * WARP);
    else if (a.vector == 2)
        produce<2>(a, b, ring, stages, threadIdx.x - consumers * WARP);
    else
        produce<1>(a, b, ring, stages, threadIdx.x - consumers * WARP);
}

#endif
