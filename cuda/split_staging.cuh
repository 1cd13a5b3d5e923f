/* How a block of cuda_split brings its list and its chunk of the input into shared memory. */
#ifndef CSRCONV_CUDA_SPLIT_STAGING_CUH
#define CSRCONV_CUDA_SPLIT_STAGING_CUH

#include "split_args.cuh"
#include "stage_ring.cuh"

/* Begins to copy, by all threads. */
static __device__ __forceinline__ void copy_quads(const int4 *from, int4 *to, int count)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        csrconv::copy_floats<4>(reinterpret_cast<float *>(to + i),
                                reinterpret_cast<const float *>(from + i));
}

/* Begins to copy one word of every step-th of the channels that are left; or makes it zero. */
static __device__ __forceinline__ void fill_word(const float *from, int64_t from_step, float *to,
                                                 int to_step, int left, int step, bool is_there)
{
    enum { AT_ONCE = 4 };
#pragma unroll 1
    for (; left > 0; left -= AT_ONCE * step) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (i * step < left)
                csrconv::copy_or_clear(to, from, is_there);
            from += from_step;
            to += to_step;
        }
    }
}

/* A thread's part of the patch: one word of several channels, or several words of all of them. */
struct filler {
    const int32_t *source; /* of the tile's words */
    int channel, word;     /* its first */
    int first;             /* source of that word */
};

/* What does not depend on the input. */
static __device__ __forceinline__ filler filler_of(const split_args &a, const split_place &b)
{
    const int thread = static_cast<int>(threadIdx.x);
    const int words = a.channel_words;
    filler f = { a.sources + static_cast<int64_t>(b.tile) * words, 0, thread, -1 };
    if (a.sharing > 1) {
        f.channel = csrconv_divide(a.by_channel, thread);
        f.word = thread - f.channel * words;
    }
    if (f.channel >= a.sharing)
        f.word = words;
    if (f.word < words)
        f.first = __ldg(f.source + f.word);
    return f;
}

/* The patch of the chunk's channels, borders included. */
static __device__ __forceinline__ void fill_patch(const split_args &a, const split_place &b,
                                                  const filler &f, float *stage)
{
    const int64_t channel = static_cast<int64_t>(b.chunk) * a.stage_channels;
    const int64_t left = a.group_channels - channel;
    const int channels = static_cast<int>(left < a.stage_channels ? left : a.stage_channels);
    const int64_t group = csrconv_divide(a.by_group, b.filter_tile);
    const int64_t end = (a.n - b.image) * a.in_stride; /* of the images that there are */
    const float *image =
        a.in + b.image * a.in_stride + (group * a.group_channels + channel + f.channel) * a.plane;
    int source = f.first;
#pragma unroll 1
    for (int word = f.word; word < a.channel_words;) {
        const bool is_there = source >= 0 && source < end;
        fill_word(is_there ? image + source : a.in, is_there ? a.sharing * a.plane : 0,
                  stage + f.channel * a.channel_words + word, a.sharing * a.channel_words,
                  channels - f.channel, a.sharing, is_there);
        word += blockDim.x;
        if (word < a.channel_words)
            source = __ldg(f.source + word);
    }
}

#endif
