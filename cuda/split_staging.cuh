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
    const float *image;    /* the plane of its first channel in the tile's first image */
    float *stage;          /* that channel's first word */
    int64_t end;           /* of the images that there are, from `image` on */
    const int32_t *source; /* of the tile's words */
    int channels;          /* from its first to the chunk's last */
    int word, first;       /* its first word, and the source of that */
};

/* What does not depend on the input, and so is worked out while that is waited for. */
static __device__ __forceinline__ filler filler_of(const split_args &a, const split_place &b,
                                                   float *stage)
{
    const int thread = static_cast<int>(threadIdx.x), words = a.channel_words;
    const int own = a.sharing > 1 ? csrconv_divide(a.by_channel, thread) : 0;
    const int begin = a.first_channel[b.chunk];
    const int64_t group = csrconv_divide(a.by_group, b.filter_tile);
    const int64_t channel = group * a.group_channels + begin + own;
    filler f = { a.in + b.image * a.in_stride + channel * a.plane,
                 stage + own * words,
                 (a.n - b.image) * a.in_stride,
                 a.sources + static_cast<int64_t>(b.tile) * words,
                 a.first_channel[b.chunk + 1] - begin - own,
                 own < a.sharing ? thread - own * words : words,
                 -1 };
    if (f.word < words)
        f.first = __ldg(f.source + f.word);
    return f;
}

/* The patch of the chunk's channels, borders included. */
static __device__ __forceinline__ void fill_patch(const split_args &a, const filler &f)
{
    int source = f.first;
#pragma unroll 1
    for (int word = f.word; word < a.channel_words;) {
        const bool is_there = source >= 0 && source < f.end;
        fill_word(is_there ? f.image + source : a.in, is_there ? a.sharing * a.plane : 0,
                  f.stage + word, a.sharing * a.channel_words, f.channels, a.sharing, is_there);
        word += blockDim.x;
        if (word < a.channel_words)
            source = __ldg(f.source + word);
    }
}

#endif
