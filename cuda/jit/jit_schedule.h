/*
 * What the code of cuda_jit does, as plain data: for each panel of filters and chunk of stages, a
 * part, and each stage and group of positions the loads and the multiply-adds that each feeds.
 * jit_ptx.c prints it; the unit test runs it.
 */
#ifndef CSRCONV_JIT_SCHEDULE_H
#define CSRCONV_JIT_SCHEDULE_H

#include "jit_deal.h"

/* sum[sum] += value * input */
struct csrconv_jit_fma {
    int32_t sum;
    float value;
};

/* One input of each thread; its multiply-adds end where the next load's begin. */
struct csrconv_jit_load {
    int32_t position; /* r * kernel_w + s */
    int32_t offset;   /* words from the thread's place in the stage, may be negative */
    int64_t fma;      /* its first */
};

struct csrconv_jit_part {
    int64_t number; /* panel * chunks + chunk */
    int64_t group, chunk;
    int64_t first_stage, stages;
    int64_t filters;
    const int64_t *filter; /* of each sum, ascending */
    int64_t loads;
    struct csrconv_jit_load *load; /* one more, that ends the last */
    struct csrconv_jit_fma *fma;
    /* The first load of group p of stage first_stage + s: [s * groups of positions + p]; the end.
     */
    int64_t *start;
};

/* The part of that number; csrconv_jit_part_free also after a failure. */
csrconv_status csrconv_jit_part_make(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_tiling *tiling,
                                     const struct csrconv_jit_deal *deal, int64_t number,
                                     struct csrconv_memory *memory, struct csrconv_jit_part *part);

void csrconv_jit_part_free(const struct csrconv_memory *memory, struct csrconv_jit_part *part);

#endif
