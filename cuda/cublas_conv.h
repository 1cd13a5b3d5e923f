/* im2col and GEMM of cuBLAS: what its peers share. */
#ifndef CSRCONV_CUDA_CUBLAS_CONV_H
#define CSRCONV_CUDA_CUBLAS_CONV_H

#include "core.h"

/* The traits of a peer point to one of these. */
struct csrconv_cublas_traits {
    bool is_tf32;
    bool is_image_by_image; /* one lowering, one product at a time; no choice */
};

/* Which promises of csrconv_execute cannot be kept. */
#define CSRCONV_CUBLAS_LIMITS                                                                      \
    "a plan's executes share a handle of cuBLAS: one at a time, and one stream at a time; a "      \
    "pruned weight times NaN or infinity is NaN"

csrconv_status csrconv_cublas_estimate(const struct csrconv_algorithm *self,
                                       const struct csrconv_problem *problem,
                                       struct csrconv_estimate *estimate);
csrconv_status csrconv_cublas_prepare(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared);
void csrconv_cublas_destroy(const struct csrconv_memory *memory, void *state);
const char *csrconv_cublas_version(void);

#endif
