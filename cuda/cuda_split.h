/* What cuda_split and cuda_split_pass share, also with programs that measure tilings. */
#ifndef CSRCONV_CUDA_SPLIT_H
#define CSRCONV_CUDA_SPLIT_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "split_tiling.h"

/* Traits of such an algorithm. */
struct csrconv_split_traits {
    bool may_cluster; /* where the GPU has clusters; else a second kernel adds */
};

/* The functions of the table. */
csrconv_status csrconv_split_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate);
csrconv_status csrconv_split_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared);
csrconv_status csrconv_split_execute(const void *state, const struct csrconv_run *run);
void csrconv_split_destroy(const struct csrconv_memory *memory, void *state);

/* What prepare does once it has chosen. CSRCONV_NOT_SUPPORTED if a list is longer than expected. */
csrconv_status csrconv_split_prepare_as(const struct csrconv_problem *problem,
                                        const struct csrconv_split_tiling *tiling,
                                        struct csrconv_prepared *prepared);

/* What host code decides by, of the current GPU. */
csrconv_status csrconv_split_describe(const struct csrconv_algorithm *self,
                                      struct csrconv_split_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
