/*
 * A layer whose code, made by cuda_jit for one tiling, is printed as PTX and run on the CPU.
 */
#ifndef CSRCONV_UNIT_JIT_TRIAL_H
#define CSRCONV_UNIT_JIT_TRIAL_H

#include "exact_layer.h"

#include "jit_tiling.h"

struct jit_trial {
    struct exact_layer layer;
    struct csrconv_jit_tiling tiling;
    int64_t images;
    int64_t misplaced; /* floats that `in` lies off 16 bytes */
    float *residual;
};

/* What is printed, what is brought from memory, and every output: once, and right. */
void jit_trial_run(struct jit_trial *t);

#endif
