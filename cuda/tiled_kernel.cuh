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

enum { WARP = 32, BARRIER_FLOATS = 64, STREAM_PART = CSRCONV_STREAM_PART };

/* Everything that a launch needs; sizes of a block's own things are ints. */
struct tiled_args {
    const int4 *quads;
    const int64_t *start;                      /* of a warp's stream in quads */
    const int64_t *filter;                     /* of a warp, FILTERS of them, -1: none */
    const int32_t *places;                     /* of a tile's words: csrconv_patch_places */
    const int32_t *row_phases, *column_phases; /* where a stride's phases begin; NULL: no stride */
    const float *in;
    float *out;
    csrconv::epilogue epilogue;
    csrconv_patch patch;
    int64_t n, in_stride, out_stride;
    int64_t height, width, plane, pad_top, pad_left, group_channels, stride_h, stride_w;
    int64_t out_h, out_w, out_plane;
    int64_t first_image_tile;                  /* of this launch */
    unsigned filter_tiles, group_filter_tiles; /* of all groups, and of one */
    unsigned row_tiles, column_tiles;
    int filter_ways, consumers; /* warps */
    int producers;              /* threads */
    int ring, stages, stage_channels, stage_floats;
    int vector;        /* floats in a copy */
    bool is_streaming; /* results leave the caches first */
};

/* A block's place in the convolution, in outputs and in input rows and columns. */
struct block_place {
    unsigned filter_tile; /* counted through the groups */
    unsigned group;
    int64_t image, row, column;      /* the tile's first output */
    int images;                      /* that the batch still has for it */
    int top, bottom, left, right;    /* what of the patch lies inside the image */
    int64_t input_row, input_column; /* where the patch's first row and column lie */
};

static __device__ int clamp_to(int64_t x, int64_t most)
{
    return static_cast<int>(x < 0 ? 0 : x > most ? most : x);
}

static __device__ block_place place_of(const tiled_args &a)
{
    unsigned block = blockIdx.x;
    const csrconv_patch &p = a.patch;
    block_place b;
    b.filter_tile = block % a.filter_tiles;
    block /= a.filter_tiles;
    b.group = b.filter_tile / a.group_filter_tiles;
    b.column = static_cast<int64_t>(block % a.column_tiles) * p.columns;
    block /= a.column_tiles;
    b.row = static_cast<int64_t>(block % a.row_tiles) * p.rows;
    b.image = (a.first_image_tile + block / a.row_tiles) * p.images;
    b.images = static_cast<int>(a.n - b.image < p.images ? a.n - b.image : p.images);
    b.input_row = b.row * a.stride_h - a.pad_top;
    b.input_column = b.column * a.stride_w - a.pad_left;
    b.top = clamp_to(-b.input_row, p.height);
    b.bottom = clamp_to(a.height - b.input_row, p.height);
    b.left = clamp_to(-b.input_column, p.width);
    b.right = clamp_to(a.width - b.input_column, p.width);
    return b;
}

/* Zeros all over a stage, of which the borders stay: no copy writes there. */
static __device__ void clear_stage(const tiled_args &a, float *stage)
{
    float4 *quads = reinterpret_cast<float4 *>(stage);
    for (int i = threadIdx.x; i < a.stage_floats / 4; i += blockDim.x)
        quads[i] = float4{ 0.0F, 0.0F, 0.0F, 0.0F };
}

/* --------------------------------------------------------------------------------------- staging
 */

/*
 * What of one channel's patch lies inside the image, in pieces of FLOATS floats. `threads` threads
 * take neighbouring pieces; where there are more threads than pieces, they share the channels, too.
 * A thread goes from a piece to its next by adding a step to the piece's column, row and image.
 */
struct staging {
    int across, down, pieces; /* in a row; rows; in all */
    int step, step_column, step_row, step_image;
    int piece, column, row, image; /* the thread's first */
    int channel, sharing;          /* its first channel, and how far to its next */
    int top, left;                 /* of the inside in the patch */
    const float *from;             /* of the inside in the first channel */
};

template <int FLOATS>
static __device__ staging staging_of(const tiled_args &a, const block_place &b, int thread,
                                     int threads)
{
    staging s;
    s.across = (b.right - b.left + FLOATS - 1) / FLOATS;
    s.down = b.bottom - b.top;
    s.pieces = b.images * s.down * s.across;
    s.step = s.pieces < threads ? s.pieces : threads;
    if (!s.pieces)
        return s;
    s.step_column = s.step % s.across;
    s.step_row = s.step / s.across % s.down;
    s.step_image = s.step / s.across / s.down;
    s.sharing = threads / s.step;
    s.piece = thread < s.step * s.sharing ? thread % s.step : s.pieces;
    s.column = s.piece % s.across;
    s.row = s.piece / s.across % s.down;
    s.image = s.piece / s.across / s.down;
    s.channel = thread / s.step;
    s.top = b.top;
    s.left = b.left;
    s.from = a.in + b.image * a.in_stride + b.group * a.group_channels * a.plane +
             (b.input_row + b.top) * a.width + b.input_column + b.left;
    return s;
}

/* Where a row and a column of the patch lie in a channel of a stage; less than 0: nowhere. */
static __device__ __forceinline__ int patch_at(const tiled_args &a, int row, int column)
{
    const int pitch = static_cast<int>(a.patch.pitch), lead = static_cast<int>(a.patch.lead);
    if (!a.row_phases)
        return lead + row * pitch + column;
    const int stride_h = static_cast<int>(a.stride_h);
    const int stride_w = static_cast<int>(a.stride_w);
    const int down = __ldg(a.row_phases + row % stride_h);
    const int across = __ldg(a.column_phases + column % stride_w);
    return down < 0 || across < 0
               ? -1
               : lead + down + across + row / stride_h * pitch + column / stride_w;
}

/* Begins the copies of a piece from every sharing-th channel. */
template <int FLOATS>
static __device__ __forceinline__ void copy_piece(float *to, const float *from, int to_step,
                                                  int64_t from_step, int count)
{
    enum { AT_ONCE = 4 };
    for (; count >= AT_ONCE; count -= AT_ONCE) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            csrconv::copy_floats<FLOATS>(to + i * to_step, from + i * from_step);
        to += AT_ONCE * to_step;
        from += AT_ONCE * from_step;
    }
    for (; count > 0; count--) {
        csrconv::copy_floats<FLOATS>(to, from);
        to += to_step;
        from += from_step;
    }
}

/* Begins the copies of `channels` channels from `channel` on. */
template <int FLOATS>
static __device__ void fill_stage(const tiled_args &a, const staging &s, float *stage,
                                  int64_t channel, int channels)
{
    const int64_t from_step = s.sharing * a.plane;
    const int step = static_cast<int>(a.patch.channel);
    const int count = (channels - s.channel + s.sharing - 1) / s.sharing;
    int column = s.column, row = s.row, image = s.image;
    for (int piece = s.piece; piece < s.pieces; piece += s.step) {
        const int at = patch_at(a, s.top + row, s.left + column * FLOATS);
        const float *from = s.from + (channel + s.channel) * a.plane + image * a.in_stride +
                            row * a.width + column * FLOATS;
        float *to = stage + s.channel * step + image * static_cast<int>(a.patch.image_pitch) + at;
        if (at >= 0)
            copy_piece<FLOATS>(to, from, s.sharing * step, from_step, count);
        column += s.step_column;
        row += s.step_row + (column >= s.across);
        column -= column >= s.across ? s.across : 0;
        image += s.step_image + (row >= s.down);
        row -= row >= s.down ? s.down : 0;
    }
}

static __device__ int channels_of(const tiled_args &a, int stage)
{
    const int64_t left = a.group_channels - static_cast<int64_t>(stage) * a.stage_channels;
    return left < a.stage_channels ? static_cast<int>(left) : a.stage_channels;
}

/* The first round, by all threads: each stage is cleared before it is filled. */
template <int FLOATS>
static __device__ void fill_first_by(const tiled_args &a, const block_place &b,
                                     const csrconv::stage_ring &ring, float *stages)
{
    const staging s = staging_of<FLOATS>(a, b, threadIdx.x, blockDim.x);
    for (int stage = 0; stage < a.ring; stage++) {
        clear_stage(a, stages + stage * a.stage_floats);
        __syncthreads();
        if (s.pieces)
            fill_stage<FLOATS>(a, s, stages + stage * a.stage_floats,
                               static_cast<int64_t>(stage) * a.stage_channels,
                               channels_of(a, stage));
        csrconv::barrier_arrive_by_copies(&ring.first[stage]);
    }
}

/* The other rounds, by the producers. */
template <int FLOATS>
static __device__ void produce_by(const tiled_args &a, const block_place &b,
                                  const csrconv::stage_ring &ring, float *stages, int thread)
{
    const staging s = staging_of<FLOATS>(a, b, thread, a.producers);
    csrconv::ring_place at = { 0, 1 };
    for (int stage = a.ring; stage < a.stages; stage++, at.step(a.ring)) {
        csrconv::ring_wait_empty(ring, at);
        if (s.pieces)
            fill_stage<FLOATS>(a, s, stages + at.slot * a.stage_floats,
                               static_cast<int64_t>(stage) * a.stage_channels,
                               channels_of(a, stage));
        csrconv::barrier_arrive_by_copies(&ring.full[at.slot]);
    }
}

/* ------------------------------------------------------------------------------------ consumers
 */

/*
 * A warp's stream of quads. STAGED: the warp copies it ahead, STREAM_PART quads at a time, into a
 * buffer of two such parts in shared memory. Otherwise each quad is loaded from memory when it is
 * wanted: the ablation.
 */
template <bool STAGED> struct quad_stream {
    enum : unsigned { PART_BYTES = STREAM_PART * sizeof(int4), BYTES = 2 * PART_BYTES };

    const int4 *from; /* what has not been copied yet */
    char *buffer;
    unsigned at; /* of the quad in `next_quad`, in bytes */
    int4 next_quad;

    __device__ __forceinline__ quad_stream(const int4 *quads, int4 *parts)
        : from(quads), buffer(reinterpret_cast<char *>(parts)), at(0)
    {
    }

    /* Begins the first copy; long before start. */
    __device__ __forceinline__ void begin()
    {
        if (STAGED)
            copy_part(0);
    }

    /* Once before the first next. */
    __device__ __forceinline__ void start()
    {
        if (STAGED)
            turn();
    }

    __device__ __forceinline__ int4 next()
    {
        if (!STAGED)
            return __ldg(from++);
        const int4 quad = *reinterpret_cast<const int4 *>(buffer + at);
        at = (at + sizeof(int4)) % BYTES;
        if (at % PART_BYTES == 0)
            turn();
        return quad;
    }

  private:
    /* The part that begins at `at` is wanted: it must be there, and the other one is read. */
    __device__ __forceinline__ void turn()
    {
        csrconv::copies_wait();
        __syncwarp();
        copy_part(at ^ PART_BYTES);
    }

    __device__ __forceinline__ void copy_part(unsigned to)
    {
        const unsigned lane = threadIdx.x % WARP;
        csrconv::copy_floats<4>(reinterpret_cast<float *>(buffer + to + lane * sizeof(int4)),
                                reinterpret_cast<const float *>(from + lane));
        csrconv::copies_commit();
        from += STREAM_PART;
    }
};

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

/* Where an output of the tile goes, counted from filter 0; -1: nowhere. */
static __device__ __forceinline__ int64_t output_of(const tiled_args &a, const block_place &b,
                                                    int place)
{
    const int image = place >> 20, row = place >> 10 & 1023, column = place & 1023;
    const int64_t y = b.row + row, x = b.column + column;
    if (place < 0 || image >= b.images || y >= a.out_h || x >= a.out_w)
        return -1;
    return (b.image + image) * a.out_stride + y * a.out_w + x;
}

/*
 * All sums of a lane, straight-line: short code matters, as each warp runs through it once. The
 * activation's bounds and a bias of 0 do no harm where there is none.
 */
template <int FILTERS, int PIXELS, bool HAS_RESIDUAL>
static __device__ void store_by(const tiled_args &a, const int64_t (&pixels)[PIXELS],
                                const int64_t *list, const float (&sums)[FILTERS][PIXELS])
{
    const uint64_t policy = csrconv::store_policy(a.is_streaming);
    const csrconv::epilogue &e = a.epilogue;
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        const int64_t filter = __ldg(list + f), plane = filter * a.out_plane;
        if (filter < 0)
            continue;
        const float bias = e.bias ? __ldg(e.bias + filter) : 0.0F;
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            if (pixels[j] < 0)
                continue;
            float x = sums[f][j] + bias;
            if (HAS_RESIDUAL)
                x += __ldg(e.residual + plane + pixels[j]);
            csrconv::store_float(a.out + plane + pixels[j], csrconv::clamp(x, e.lo, e.hi), policy);
        }
    }
}

template <int FILTERS, int PIXELS>
static __device__ void store(const tiled_args &a, const block_place &b, const int32_t *places,
                             const int64_t *list, const float (&sums)[FILTERS][PIXELS])
{
    int64_t pixels[PIXELS];
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        pixels[j] = output_of(a, b, __ldg(places + j * WARP));
    if (a.epilogue.residual)
        store_by<FILTERS, PIXELS, true>(a, pixels, list, sums);
    else
        store_by<FILTERS, PIXELS, false>(a, pixels, list, sums);
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

/* By the widest copies that the caller's pointer allows. */
static __device__ void fill_first(const tiled_args &a, const block_place &b,
                                  const csrconv::stage_ring &ring, float *stages)
{
    if (a.vector == 4)
        fill_first_by<4>(a, b, ring, stages);
    else if (a.vector == 2)
        fill_first_by<2>(a, b, ring, stages);
    else
        fill_first_by<1>(a, b, ring, stages);
}

static __device__ void produce(const tiled_args &a, const block_place &b,
                               const csrconv::stage_ring &ring, float *stages, int thread)
{
    if (a.vector == 4)
        produce_by<4>(a, b, ring, stages, thread);
    else if (a.vector == 2)
        produce_by<2>(a, b, ring, stages, thread);
    else
        produce_by<1>(a, b, ring, stages, thread);
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
