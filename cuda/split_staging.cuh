/* How a block of cuda_split brings its list and its chunk of the input into shared memory. */
#ifndef CSRCONV_CUDA_SPLIT_STAGING_CUH
#define CSRCONV_CUDA_SPLIT_STAGING_CUH

#include "split_args.cuh"
#include "stage_ring.cuh"

/*
 * Constants come to a multiprocessor a line of 64 bytes at a time, which takes hundreds of clocks
 * after each launch: each warp asks for another line, all at once.
 */
static __device__ __forceinline__ void fetch_args(const split_args &a)
{
    enum { LINE_WORDS = 16, LINES = (sizeof(split_args) - 1) / 64 + 1 };
    const int line = threadIdx.x / WARP % LINES;
    const int word = reinterpret_cast<const int *>(&a)[line * LINE_WORDS];
    asm volatile("" ::"r"(word));
}

/* Begins to copy the list: all of it, in one go, before anything else is worked out. */
static __device__ __forceinline__ void copy_list(const split_args &a, int4 *list)
{
    const int4 *from =
        list_of(a, a.first_filter_tile + blockIdx.y, static_cast<int>(blockIdx.x) & (a.chunks - 1));
    for (int i = threadIdx.x; i < a.list_quads; i += blockDim.x)
        csrconv::copy_floats<4>(reinterpret_cast<float *>(list + i),
                                reinterpret_cast<const float *>(from + i));
    csrconv::copies_commit();
}

/* Where a word of a channel comes from, counted from the image's first; -1: a border's zero. */
static __device__ __forceinline__ int64_t source_of(const split_args &a, const split_place &b,
                                                    int word)
{
    const csrconv_patch_point point = csrconv_patch_point_of(&a.source, word);
    const int64_t y = b.input_row + point.row, x = b.input_column + point.column;
    if (y < 0 || y >= a.height || x < 0 || x >= a.width || b.image + point.image >= a.n)
        return -1;
    return point.image * a.in_stride + y * a.width + x;
}

/* One word of every step-th channel: all loads of a round are on their way before the first store.
 */
static __device__ __forceinline__ void fill_word(const float *from, int64_t from_step, float *to,
                                                 int to_step, int count)
{
    enum { AT_ONCE = 16 };
    for (; count > 0; count -= AT_ONCE) {
        float x[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            x[i] = from && i < count ? __ldg(from + i * from_step) : 0.0F;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (i < count)
                to[i * to_step] = x[i];
        from = from ? from + AT_ONCE * from_step : from;
        to += AT_ONCE * to_step;
    }
}

/* What does not wait for memory: zeros, and where each word of the tile goes. */
static __device__ __forceinline__ void fill_words(const split_args &a, const split_place &b,
                                                  float *zeros, int64_t *outputs)
{
    for (int i = threadIdx.x; i < a.words; i += blockDim.x) {
        zeros[i] = 0.0F;
        outputs[i] = output_of(a, b, i);
    }
}

/*
 * The patch of the chunk's channels, borders included. A thread has one word
 * of several channels, or several words of all where a channel has more words than a block threads.
 */
static __device__ __forceinline__ void fill_patch(const split_args &a, const split_place &b,
                                                  float *stage)
{
    const int first = b.chunk * a.stage_channels, words = a.source.words;
    const int64_t left = a.group_channels - first;
    const int channels = static_cast<int>(left < a.stage_channels ? left : a.stage_channels);
    const int64_t group = csrconv_divide(a.by_group, b.filter_tile);
    const float *image =
        a.in + b.image * a.in_stride + (group * a.group_channels + first) * a.plane;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int sharing = words < threads ? threads / words : 1;
    const int channel = words < threads ? csrconv_divide(a.by_channel, thread) : 0;
    if (channel >= sharing)
        return;
    for (int word = thread - channel * words; word < words; word += threads) {
        const int64_t source = source_of(a, b, word);
        const float *from = source < 0 ? nullptr : image + source + channel * a.plane;
        fill_word(from, sharing * a.plane, stage + channel * words + word, sharing * words,
                  (channels - channel + sharing - 1) / sharing);
    }
}

#endif
