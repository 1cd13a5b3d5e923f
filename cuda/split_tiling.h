/*
 * How cuda_split cuts a convolution of few images so that all multiprocessors have work: host code,
 * without a call of CUDA's.
 *
 * A block computes the filters of its places for one tile of outputs over one chunk of the
 * input channels; the blocks of all chunks then add up what they have. In a csrconv_block_tiling
 * of it, stages are chunks, of which a block holds its one (ring = 1), stage_channels the channels
 * of the widest, and no warp only stages.
 */
#ifndef CSRCONV_CUDA_SPLIT_TILING_H
#define CSRCONV_CUDA_SPLIT_TILING_H

#include "block_tiling.h"
#include "split_cut.h"

/* Outputs of a lane: each makes another kernel. Filters of a warp come one after the other. */
#define CSRCONV_EACH_SPLIT_KERNEL(KERNEL)                                                          \
    KERNEL(1) KERNEL(2) KERNEL(4) KERNEL(7) KERNEL(8) KERNEL(14) KERNEL(16)

enum {
    CSRCONV_SPLIT_THREADS = 512, /* of a block, at the most */
    CSRCONV_SPLIT_REGISTERS = 128,
    CSRCONV_ADDING_THREADS = 128,
    CSRCONV_MOST_PLACES = 128,
    CSRCONV_UNIT_PIXELS = 4 /* outputs that a lane gives away at once */
};

/* Who adds the chunks' sums, always in the order of the chunks. */
enum csrconv_split_adder {
    CSRCONV_ADD_IN_CLUSTER, /* the blocks, each a share, through one another's shared memory */
    CSRCONV_ADD_IN_PASS     /* a second kernel, from the workspace */
};

struct csrconv_split_machine {
    struct csrconv_block_machine block;
    enum csrconv_split_adder adder;
    /* Clusters of so many blocks that run at once, each block alone on its multiprocessor. */
    int64_t clusters[CSRCONV_MOST_CHUNKS + 1];
};

struct csrconv_split_tiling {
    struct csrconv_block_tiling block;
    enum csrconv_split_adder adder;
    int64_t places;     /* for filters, in a block; of block.kernel the pixels alone count */
    int64_t list_quads; /* that a block's list may have */
    int64_t first_channel[CSRCONV_MOST_CHUNKS + 1]; /* of the chunks, as of csrconv_split_cut */
    double heaviest;                                /* of that cut */
};

/* Quadruples of sums that a lane has of one filter: P / 4, rounded up. */
static inline int64_t csrconv_split_place_units(const struct csrconv_split_tiling *split)
{
    const int pixels = csrconv_block_kernels[split->block.kernel].pixels;
    return (pixels - 1) / CSRCONV_UNIT_PIXELS + 1;
}

/* Those that the 32 lanes of a block's warps have. */
static inline int64_t csrconv_split_units(const struct csrconv_split_tiling *split)
{
    return split->block.pixel_ways * split->places * csrconv_split_place_units(split);
}

/* Of these, how many one block of a cluster adds. */
static inline int64_t csrconv_split_share(const struct csrconv_split_tiling *split)
{
    return (csrconv_split_units(split) - 1) / split->block.stages + 1;
}

/* Told each tiling that fits, in no order. */
typedef void (*csrconv_split_tiling_visit)(void *context,
                                           const struct csrconv_split_tiling *tiling);

/* Visits every tiling whose list may have `spare` times the quads expected; returns how many. */
int64_t csrconv_split_tiling_each(const struct csrconv_problem *problem,
                                  const struct csrconv_split_machine *machine, double spare,
                                  csrconv_split_tiling_visit visit, void *context);

/* The one with the least estimated time; CSRCONV_NOT_SUPPORTED if nothing fits. */
csrconv_status csrconv_split_tiling_choose(const struct csrconv_problem *problem,
                                           const struct csrconv_split_machine *machine,
                                           double spare, struct csrconv_split_tiling *tiling);

#endif
