/* Lowering on the GPU: the input windows as a matrix of CSR columns by output pixels. */
#ifndef CSRCONV_CUDA_IM2COL_H
#define CSRCONV_CUDA_IM2COL_H

#include "lowering.h"
#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queues the lowering of n images of all groups, at most lowering->images, to where its strides
 * say; row g * columns + k is column k of group g. For a lowering that is not in place.
 */
csrconv_status csrconv_cuda_im2col(const struct csrconv_shape *shape,
                                   const struct csrconv_lowering *lowering, int64_t n,
                                   const float *in, float *lowered, void *stream);

#ifdef __cplusplus
}
#endif

#endif
