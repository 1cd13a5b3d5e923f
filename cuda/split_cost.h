/* What a tiling of cuda_split is estimated to take, and how long its lists are. */
#ifndef CSRCONV_CUDA_SPLIT_COST_H
#define CSRCONV_CUDA_SPLIT_COST_H

#include "split_tiling.h"

/* What the estimate has to know of a problem. */
struct csrconv_split_work {
    const struct csrconv_shape *shape;
    double nonzeros, longest_row;
    int64_t most_chunks;
    /* Into so many chunks: of equal work, and of equal width. */
    struct csrconv_split_cut cut[CSRCONV_MOST_CHUNKS + 1], even_cut[CSRCONV_MOST_CHUNKS + 1];
};

void csrconv_split_work_init(const struct csrconv_problem *problem,
                             struct csrconv_split_work *work);

/* Nonzeros that the fullest block is expected to have. */
double csrconv_split_block_nonzeros(const struct csrconv_split_work *work,
                                    const struct csrconv_split_tiling *tiling);

/* Blocks that run at once if a multiprocessor has one at a time. */
int64_t csrconv_split_slots(const struct csrconv_split_machine *machine,
                            const struct csrconv_split_tiling *tiling);

/* Microseconds of the whole batch. */
double csrconv_split_cost_us(const struct csrconv_split_work *work,
                             const struct csrconv_split_machine *machine,
                             const struct csrconv_split_tiling *tiling);

#endif
