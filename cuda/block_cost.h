/* What a tiling of cuda_tiled is estimated to take. */
#ifndef CSRCONV_CUDA_BLOCK_COST_H
#define CSRCONV_CUDA_BLOCK_COST_H

#include "block_tiling.h"

/* What the estimate has to know of a problem. */
struct csrconv_block_work {
    const struct csrconv_shape *shape;
    double nonzeros;
};

void csrconv_block_work_init(const struct csrconv_problem *problem,
                             struct csrconv_block_work *work);

/* Microseconds of the whole batch. */
double csrconv_block_cost_us(const struct csrconv_block_work *work,
                             const struct csrconv_block_machine *machine,
                             const struct csrconv_block_tiling *tiling);

#endif
