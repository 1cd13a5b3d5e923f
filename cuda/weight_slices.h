/*
 * The CSR matrix cut for cuda_tiled_weights: a slice holds the nonzeros of one block's filters in
 * one stage's channels. Plain C without CUDA, tested without a GPU.
 */
#ifndef CSRCONV_CUDA_WEIGHT_SLICES_H
#define CSRCONV_CUDA_WEIGHT_SLICES_H

#include "weight_tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Slice (filter block b, stage s) is number b * stages + s. Its filter f has the pairs from
 * starts[slice * filters + f] up to the next start, in the order of its columns; filters that the
 * last block of a group lacks have none.
 */
struct csrconv_weight_slices {
    int64_t *starts; /* filter_blocks * stages * filters + 1 */
    struct csrconv_weight_pair *pairs;
};

/*
 * Cuts the weights, and sets channels, stages and pairs of `tiles` so that the fullest slice is
 * within the budget. csrconv_weight_slices_free is right after a failure too.
 */
csrconv_status csrconv_weight_slices_make(const struct csrconv_problem *problem,
                                          struct csrconv_memory *memory,
                                          struct csrconv_weight_tiles *tiles,
                                          struct csrconv_weight_slices *slices);

/* How many starts there are. */
int64_t csrconv_weight_slices_starts(const struct csrconv_weight_tiles *tiles);

void csrconv_weight_slices_free(const struct csrconv_memory *memory,
                                struct csrconv_weight_slices *slices);

#ifdef __cplusplus
}
#endif

#endif
