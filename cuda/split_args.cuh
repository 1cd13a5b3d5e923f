/* What the kernels of cuda_split are given, and where a block stands in the convolution. */
#ifndef CSRCONV_CUDA_SPLIT_ARGS_CUH
#define CSRCONV_CUDA_SPLIT_ARGS_CUH

#include "epilogue.cuh"
#include "products.cuh"

extern "C" {
#include "chunk_lists.h"
#include "divisor.h"
#include "split_tiling.h"
}

enum { UNIT = CSRCONV_UNIT_PIXELS };

/* Everything that a launch needs; sizes of a block's own things are ints. */
struct split_args {
    const int4 *lists;                /* chunk_lists.h */
    const int32_t *sources, *outputs; /* tile_tables.h */
    const float *in;
    float *out;
    float4 *partial; /* sums for the second kernel */
    csrconv::epilogue epilogue;
    int64_t n, in_stride, out_stride, plane, out_plane, group_channels;
    /* Of this launch; filter tiles are counted through the groups. */
    int64_t first_image_tile, first_filter_tile;
    csrconv_divisor by_chunks, by_places;
    csrconv_divisor by_tiles;                   /* of an image's plane */
    csrconv_divisor by_group;                   /* filter tiles of a group */
    csrconv_divisor by_channel;                 /* words of a channel of the patch */
    int first_channel[CSRCONV_MOST_CHUNKS + 1]; /* of the chunks */
    int chunks, tiles, tile_images, channel_words;
    int sharing; /* threads that take turns at the channels of a word */
    int list_quads, pixels, filter_ways, places; /* pixels: of a lane, places: of a tile */
    int at_segment, at_filter, at_bias;          /* csrconv_list_words */
    int words, zeros;                            /* of a tile; where its zeros begin */
    int unit_shift;                              /* units of a place for each warp */
    int units, share;                            /* units of a block, and those that it adds */
};

/* A block's place: its chunk, its filters, and its tile. */
struct split_place {
    int chunk, filter_tile, tile; /* tile: of an image's plane */
    int64_t image;                /* the tile's first */
};

/* Chunks count fastest, as the blocks of a cluster are those of a tile; then tiles, then images. */
static __device__ __forceinline__ split_place place_of(const split_args &a, int chunks)
{
    const int block = static_cast<int>(blockIdx.x);
    const int tile = chunks > 1 ? csrconv_divide(a.by_chunks, block) : block;
    const int images = csrconv_divide(a.by_tiles, tile);
    return split_place{ block - tile * chunks, static_cast<int>(a.first_filter_tile + blockIdx.y),
                        tile - images * a.tiles, (a.first_image_tile + images) * a.tile_images };
}

static __device__ __forceinline__ const int4 *list_of(const split_args &a, const split_place &b)
{
    return a.lists + (static_cast<int64_t>(b.filter_tile) * a.chunks + b.chunk) * a.list_quads;
}

/* A word at a list's head. */
static __device__ __forceinline__ int word_of(const int4 *list, int i)
{
    return reinterpret_cast<const int *>(list)[i];
}

#endif
