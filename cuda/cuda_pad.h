/* Zero borders around input planes, on the GPU. */
#ifndef CSRCONV_CUDA_PAD_H
#define CSRCONV_CUDA_PAD_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queues the copy of n images, apart by in_batch_stride, to images of padded_image floats, one
 * behind the other, with their borders set to zero. `padded` is a workspace, aligned to 256 bytes.
 */
csrconv_status csrconv_cuda_pad_images(const struct csrconv_shape *shape, int64_t n,
                                       const float *in, float *padded, void *stream);

/* Whether this build has machine code for the current GPU. */
cudaError_t csrconv_cuda_has_code(void);

#ifdef __cplusplus
}
#endif

#endif
