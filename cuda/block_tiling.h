/*
 * How cuda_tiled cuts a convolution into blocks of threads: host code, without a call of CUDA's.
 *
 * A block computes filter_ways * filters filters for one tile of outputs. Its consumer warps stand
 * filter_ways x pixel_ways: each walks the nonzeros of `filters` filters over pixels * 32 outputs,
 * the sums in registers. Producer warps bring the patch of a few channels after the other, a stage,
 * into a ring in shared memory.
 */
#ifndef CSRCONV_CUDA_BLOCK_TILING_H
#define CSRCONV_CUDA_BLOCK_TILING_H

#include "algorithm.h"
#include "patch.h"

/* A kernel as it is compiled: sums of `filters` filters and `pixels` outputs in each lane. */
struct csrconv_block_kernel {
    int filters, pixels;
    int most_threads; /* that its registers allow */
    int registers;    /* at the most, for each thread */
};

/*
 * All of them, as the members above: from few sums, where there is little to do, to as many as
 * registers hold. 20 warps of 96 registers, or 16 of 128, take the 65,536 of a multiprocessor.
 */
/* clang-format off */
#define CSRCONV_EACH_BLOCK_KERNEL(KERNEL) \
    KERNEL(1, 1, 640, 96) KERNEL(1, 2, 640, 96) KERNEL(1, 4, 640, 96) KERNEL(1, 8, 640, 96) \
    KERNEL(2, 4, 640, 96) KERNEL(2, 7, 640, 96) KERNEL(2, 8, 640, 96) KERNEL(2, 12, 640, 96) \
    KERNEL(2, 13, 640, 96) KERNEL(2, 14, 640, 96) KERNEL(2, 16, 512, 128) KERNEL(4, 2, 640, 96) \
    KERNEL(4, 4, 640, 96) KERNEL(4, 5, 640, 96) KERNEL(4, 6, 640, 96) KERNEL(4, 7, 640, 96) \
    KERNEL(4, 8, 640, 96) KERNEL(4, 10, 640, 96) KERNEL(4, 12, 512, 128) KERNEL(4, 13, 512, 128) \
    KERNEL(4, 14, 512, 128) KERNEL(8, 1, 640, 96) KERNEL(8, 2, 640, 96) KERNEL(8, 3, 640, 96) \
    KERNEL(8, 4, 640, 96) KERNEL(8, 5, 640, 96) KERNEL(8, 6, 640, 96) KERNEL(8, 7, 640, 96) \
    KERNEL(8, 8, 512, 128)
/* clang-format on */

enum { CSRCONV_BLOCK_KERNELS = 29, CSRCONV_MOST_WARP_FILTERS = 8 };
extern const struct csrconv_block_kernel csrconv_block_kernels[CSRCONV_BLOCK_KERNELS];

/* What the choice has to know of a GPU. */
struct csrconv_block_machine {
    int64_t processors;
    int64_t block_shared;     /* bytes of shared memory that a block can have */
    int64_t processor_shared; /* and that all blocks of a multiprocessor have together */
    double clock_ghz;
};

struct csrconv_block_tiling {
    int kernel;                                 /* into csrconv_block_kernels */
    int64_t filter_ways, pixel_ways, producers; /* warps */
    struct csrconv_patch patch;
    int64_t stage_channels, stages, ring; /* channels of a stage, stages, and stages held */
    int64_t stage_floats; /* with what idle lanes read beyond the last channel, and zeros */
    int64_t zeros;        /* where these begin: as many as csrconv_block_words */
    int64_t filter_tiles; /* of a group of the convolution */
    int64_t image_tiles, row_tiles, column_tiles;
    int64_t blocks;       /* of the whole batch */
    int64_t shared_bytes; /* of a block */
    int64_t residents;    /* blocks that a multiprocessor holds at once */
    double us;            /* estimated, of the whole batch */
};

/* Words of the patch that the lanes of a block's pixel ways begin at. */
static inline int64_t csrconv_block_words(const struct csrconv_block_tiling *tiling)
{
    return csrconv_block_kernels[tiling->kernel].pixels * tiling->pixel_ways * CSRCONV_LANES;
}

/* Filters that a block computes. */
static inline int64_t csrconv_block_filters(const struct csrconv_block_tiling *tiling)
{
    return csrconv_block_kernels[tiling->kernel].filters * tiling->filter_ways;
}

/* Told each tiling that fits, in no order. */
typedef void (*csrconv_block_tiling_visit)(void *context,
                                           const struct csrconv_block_tiling *tiling);

/* Visits every tiling that is considered; returns how many. */
int64_t csrconv_block_tiling_each(const struct csrconv_problem *problem,
                                  const struct csrconv_block_machine *machine,
                                  csrconv_block_tiling_visit visit, void *context);

/*
 * The tiling with the least estimated time. CSRCONV_NOT_SUPPORTED if the patch of one channel and
 * one output does not fit into shared memory.
 */
csrconv_status csrconv_block_tiling_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_block_machine *machine,
                                           struct csrconv_block_tiling *tiling);

#endif
