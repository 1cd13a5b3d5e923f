/* How a block of cuda_tiled brings its patch into the ring of stages. */
#ifndef CSRCONV_CUDA_TILED_STAGING_CUH
#define CSRCONV_CUDA_TILED_STAGING_CUH

#include "stage_ring.cuh"
#include "tiled_args.cuh"

/* Zeros all over a stage, of which the borders stay: no copy writes there. */
static __device__ void clear_stage(const tiled_args &a, float *stage)
{
    float4 *quads = reinterpret_cast<float4 *>(stage);
    for (int i = threadIdx.x; i < a.stage_floats / 4; i += blockDim.x)
        quads[i] = float4{ 0.0F, 0.0F, 0.0F, 0.0F };
}

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

#endif
