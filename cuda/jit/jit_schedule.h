/*
 * What the code of cuda_jit does, as plain data: the panels of filters, and for each stage and
 * group of positions the loads of a panel and the multiply-adds that each feeds. jit_ptx.c prints
 * it; the unit test runs it.
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

struct csrconv_jit_panel {
    int64_t group;
    int64_t filters;
    const int64_t *filter; /* of each sum, ascending */
    int64_t loads;
    struct csrconv_jit_load *load; /* one more, that ends the last */
    struct csrconv_jit_fma *fma;
    int64_t
        *start; /* the first load of group p of stage s: [s * groups of positions + p]; the end */
};

/* The panel of that number; csrconv_jit_panel_free also after a failure. */
csrconv_status csrconv_jit_panel_make(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling,
                                      const struct csrconv_jit_deal *deal, int64_t number,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_panel *panel);

void csrconv_jit_panel_free(const struct csrconv_memory *memory, struct csrconv_jit_panel *panel);

#endif
