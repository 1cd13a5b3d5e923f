/*
 * Which filters make a panel. All panels of a group have about as many nonzeros, since blocks of
 * all of them run at once; and filters that share columns come together, since a column that two
 * filters of a panel use is loaded once.
 */
#ifndef CSRCONV_JIT_DEAL_H
#define CSRCONV_JIT_DEAL_H

#include "jit_tiling.h"

/* A list of filters for each panel. */
struct csrconv_jit_deal {
    int64_t panels;  /* of all groups */
    int64_t *filter; /* panels * tiling->filters, ascending in each; -1: none */
};

csrconv_status csrconv_jit_deal_make(const struct csrconv_problem *problem,
                                     const struct csrconv_jit_tiling *tiling,
                                     struct csrconv_memory *memory, struct csrconv_jit_deal *deal);

void csrconv_jit_deal_free(const struct csrconv_memory *memory, struct csrconv_jit_deal *deal);

#endif
