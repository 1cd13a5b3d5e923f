/* im2col and SpMM of cuSPARSE: what its peers share. */
#ifndef CSRCONV_CUDA_CUSPARSE_CONV_H
#define CSRCONV_CUDA_CUSPARSE_CONV_H

#include "core.h"

/* The traits of a peer point to one of these. */
struct csrconv_cusparse_traits {
    bool is_image_by_image; /* one lowering, one product at a time */
};

/* Which promises of csrconv_execute cannot be kept. */
#define CSRCONV_CUSPARSE_LIMITS                                                                    \
    "a plan's executes share a handle and buffers of cuSPARSE: one at a time, one stream at a "    \
    "time; cuSPARSE allocates on the host inside; some of its algorithms add in no fixed order"

csrconv_status csrconv_cusparse_estimate(const struct csrconv_algorithm *self,
                                         const struct csrconv_problem *problem,
                                         struct csrconv_estimate *estimate);
csrconv_status csrconv_cusparse_prepare(const struct csrconv_algorithm *self,
                                        const struct csrconv_problem *problem,
                                        struct csrconv_prepared *prepared);
void csrconv_cusparse_destroy(const struct csrconv_memory *memory, void *state);
const char *csrconv_cusparse_version(void);

#endif
