/*
 * How cuda_tiled_weights cuts a problem: which outputs a block of threads computes, and how many
 * channels it brings to shared memory at a time. Plain C without CUDA, tested without a GPU.
 *
 * A block computes `filters` filters of one group over a tile of tile_h x tile_w output pixels of
 * one image. For each stage it brings the inputs of `channels` channels under the tile, zero
 * borders included, and the nonzeros of its filters in those channels to shared memory. Its threads
 * stand in slots of `lanes`: a lane owns thread_pixels pixels of the tile, `lanes` apart, and a
 * slot owns thread_filters filters.
 */
#ifndef CSRCONV_CUDA_WEIGHT_TILES_H
#define CSRCONV_CUDA_WEIGHT_TILES_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CSRCONV_WEIGHT_TILE_THREADS = 256,
    CSRCONV_WEIGHT_TILE_PIXELS = 4,  /* the most pixels of a thread */
    CSRCONV_WEIGHT_TILE_SUMS = 8,    /* the most filters of a thread */
    CSRCONV_PLAIN_SHARED = 48 * 1024 /* bytes that a block can have without its kernel opting in */
};

/* A nonzero in shared memory: where its input stands in the staged channels, and its value. */
struct csrconv_weight_pair {
    int32_t offset;
    float value;
} __attribute__((aligned(8))); /* one load brings both */

/* What a GPU has, of the things that the cut depends on. */
struct csrconv_weight_tile_limits {
    int64_t block_shared; /* bytes of shared memory that a block can have */
    int processors;
};

struct csrconv_weight_tiles {
    int lanes;
    int thread_pixels; /* 1, 2 or 4 */
    int thread_filters;
    int filters; /* of a block: thread_filters for each slot of lanes */
    int tile_h, tile_w;
    int64_t stage_h, stage_w;        /* inputs of one channel under a tile */
    int64_t channels;                /* of a stage */
    int64_t stages;                  /* that the channels of a group take */
    int64_t pairs;                   /* room for the nonzeros of a stage */
    int64_t filter_blocks;           /* of all groups */
    int64_t row_tiles, column_tiles; /* of an output plane */
    int64_t shared_budget;           /* bytes that a stage may take */
    double clocks;                   /* of the whole batch, by the model */
};

/*
 * The cut that a model of the load pipe likes best; it counts nonzeros in the mean, so channels,
 * stages and pairs are final only after csrconv_weight_slices_make. CSRCONV_NOT_SUPPORTED, with the
 * bytes, if one channel under one pixel does not fit into shared memory.
 */
csrconv_status csrconv_weight_tiles_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_weight_tile_limits *limits,
                                           struct csrconv_weight_tiles *tiles);

/* Sets channels and stages from the most channels that a stage may have. */
void csrconv_weight_tiles_set_channels(const struct csrconv_shape *shape, int64_t most,
                                       struct csrconv_weight_tiles *tiles);

/* Shared memory of a block: pairs, then where each filter's begin, then inputs. */
int64_t csrconv_weight_tiles_shared_bytes(const struct csrconv_weight_tiles *tiles);

/* Blocks that n images take. */
int64_t csrconv_weight_tiles_blocks(const struct csrconv_weight_tiles *tiles, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
