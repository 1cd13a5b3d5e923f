/* What the kernels of cuda_split are given, and where a block stands in the convolution. */
#ifndef CSRCONV_CUDA_SPLIT_ARGS_CUH
#define CSRCONV_CUDA_SPLIT_ARGS_CUH

#include "epilogue.cuh"
#include "products.cuh"

extern "C" {
#include "patch_source.h"
#include "split_tiling.h"
}

enum { UNIT = CSRCONV_UNIT_PIXELS };

/*
 * Everything that a launch needs, in the order in which it is read: constants come line by line.
 * Sizes of a block's own things are ints; those of tiles are powers of two where a shift is given.
 */
struct split_args {
    const int4 *lists;         /* chunk_lists.h */
    int64_t first_filter_tile; /* of this launch, counted through the groups */
    int list_quads, chunks, stage_channels;
    csrconv_divisor by_chunks;
    csrconv_divisor by_columns, by_rows; /* tiles across and down */
    csrconv_divisor by_group;            /* filter tiles of a group */
    csrconv_divisor by_channel;          /* words of a channel */
    int column_tiles, row_tiles;
    int tile_images, tile_rows, tile_columns;
    int words, zeros; /* of a tile; where its zeros begin */
    int filter_ways;
    const float *in;
    int64_t first_image_tile; /* of this launch */
    int64_t n, in_stride;
    int64_t height, width, plane, pad_top, pad_left, stride_h, stride_w, group_channels;
    csrconv_patch_source source;
    float *out;
    float4 *partial; /* sums for the second kernel; NULL: blocks give them to one another */
    int64_t out_stride, out_h, out_w, out_plane;
    csrconv::epilogue epilogue;
    int pixels;
    int place_shift, unit_shift; /* places of filters in a tile; units of one for each warp */
    int units, share;            /* units of a block, and those that it adds */
};

/* A block's place: its chunk, its filters, and its tile's first output and input. */
struct split_place {
    int chunk, filter_tile;
    int64_t image, row, column;
    int64_t input_row, input_column;
};

/* Of the tile with that number, by columns, rows, images. */
static __device__ __forceinline__ split_place tile_at(const split_args &a, int tile)
{
    split_place b;
    const int line = csrconv_divide(a.by_columns, tile);
    const int images = csrconv_divide(a.by_rows, line);
    b.chunk = 0;
    b.filter_tile = static_cast<int>(a.first_filter_tile + blockIdx.y);
    b.column = static_cast<int64_t>(tile - line * a.column_tiles) * a.tile_columns;
    b.row = static_cast<int64_t>(line - images * a.row_tiles) * a.tile_rows;
    b.image = (a.first_image_tile + images) * a.tile_images;
    b.input_row = b.row * a.stride_h - a.pad_top;
    b.input_column = b.column * a.stride_w - a.pad_left;
    return b;
}

/* Chunks count fastest: the blocks of a cluster are those of a tile. */
static __device__ __forceinline__ split_place place_of(const split_args &a)
{
    const int tile = csrconv_divide(a.by_chunks, static_cast<int>(blockIdx.x));
    split_place b = tile_at(a, tile);
    b.chunk = static_cast<int>(blockIdx.x) - tile * a.chunks;
    return b;
}

static __device__ __forceinline__ int chunk_of(const split_args &a)
{
    const int block = static_cast<int>(blockIdx.x);
    return block - csrconv_divide(a.by_chunks, block) * a.chunks;
}

static __device__ __forceinline__ const int4 *list_of(const split_args &a, int64_t filter_tile,
                                                      int chunk)
{
    return a.lists + (filter_tile * a.chunks + chunk) * a.list_quads;
}

/* Where a word of the tile goes, counted from filter 0 of image 0; -1: nowhere. */
static __device__ __forceinline__ int64_t output_of(const split_args &a, const split_place &b,
                                                    int word)
{
    const csrconv_patch_point point = csrconv_patch_within(&a.source, word);
    const int64_t n = b.image + point.image, y = b.row + point.row, x = b.column + point.column;
    if (point.row >= a.tile_rows || point.column >= a.tile_columns || n >= a.n || y >= a.out_h ||
        x >= a.out_w)
        return -1;
    return n * a.out_stride + y * a.out_w + x;
}

/* The words at a list's head. */
static __device__ __forceinline__ int start_of(const int4 *list, int way)
{
    return reinterpret_cast<const int *>(list)[way];
}

static __device__ __forceinline__ int place_in(const split_args &a, const int4 *list, int i)
{
    return reinterpret_cast<const int *>(list)[a.filter_ways + i];
}

static __device__ __forceinline__ int filter_of(const split_args &a, const int4 *list, int place)
{
    return reinterpret_cast<const int *>(list)[a.filter_ways + (1 << a.place_shift) + place];
}

static __device__ __forceinline__ float bias_of(const split_args &a, const int4 *list, int place)
{
    return reinterpret_cast<const float *>(list)[a.filter_ways + (2 << a.place_shift) + place];
}

#endif
