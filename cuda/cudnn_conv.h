/* cuDNN's dense convolution, in the arithmetic that is asked for: what its peers share. */
#ifndef CSRCONV_CUDNN_CONV_H
#define CSRCONV_CUDNN_CONV_H

#include "cudnn_plan.h"

/* The traits of a peer point to a struct csrconv_cudnn_math. */

csrconv_status csrconv_cudnn_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate);
csrconv_status csrconv_cudnn_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared);
csrconv_status csrconv_cudnn_lay_out(const void *state, const struct csrconv_run *run);
csrconv_status csrconv_cudnn_compute(const void *state, const struct csrconv_run *run);
csrconv_status csrconv_cudnn_execute(const void *state, const struct csrconv_run *run);
void csrconv_cudnn_destroy(const struct csrconv_memory *memory, void *state);
const char *csrconv_cudnn_version(void);

#endif
