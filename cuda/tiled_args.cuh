/* What the kernel of cuda_tiled is given, and where a block of it stands in the convolution. */
#ifndef CSRCONV_CUDA_TILED_ARGS_CUH
#define CSRCONV_CUDA_TILED_ARGS_CUH

#include "epilogue.cuh"
#include "products.cuh"

extern "C" {
#include "block_tiling.h"
#include "row_streams.h"
}

enum { BARRIER_FLOATS = 64, STREAM_PART = CSRCONV_STREAM_PART };

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

#endif
