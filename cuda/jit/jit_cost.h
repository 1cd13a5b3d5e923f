/* What a tiling of cuda_jit is estimated to take. */
#ifndef CSRCONV_JIT_COST_H
#define CSRCONV_JIT_COST_H

#include "jit_tiling.h"

enum { CSRCONV_JIT_TABLED_FILTERS = 255 }; /* as many as a thread has registers for sums */

/* What the estimate has to know of a problem. */
struct csrconv_jit_work {
    const struct csrconv_shape *shape;
    double density;            /* of the weights */
    double log_sparsity;       /* logarithm of the share of zeros */
    double stage_instructions; /* of predicates; what a stage waits for is in clocks */
    /* Expected of panels of so few filters: a search asks for the same ones again and again. */
    double loads[CSRCONV_JIT_TABLED_FILTERS + 1];
};

void csrconv_jit_work_init(const struct csrconv_problem *problem, struct csrconv_jit_work *work);

/* Of one panel of as many filters, if the nonzeros are spread at random. */
double csrconv_jit_expected_loads(const struct csrconv_jit_work *work, int64_t filters);

/* Instructions of a panel's code. */
double csrconv_jit_instructions(const struct csrconv_jit_work *work,
                                const struct csrconv_jit_tiling *tiling);

/* Microseconds of the whole batch. */
double csrconv_jit_cost_us(const struct csrconv_jit_work *work,
                           const struct csrconv_block_machine *machine,
                           const struct csrconv_jit_tiling *tiling);

#endif
