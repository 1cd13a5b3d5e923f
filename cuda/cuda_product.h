/* From the products of wide multiplications to NCHW, with the epilogue on the way. */
#ifndef CSRCONV_CUDA_PRODUCT_H
#define CSRCONV_CUDA_PRODUCT_H

#include "lowering.h"
#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues it for the run->n images of a chunk, whose product lies at lowering->product's strides. */
csrconv_status csrconv_cuda_store_product(const struct csrconv_run *run,
                                          const struct csrconv_lowering *lowering,
                                          const float *device_bias, const float *product);

/* Queues the clearing of `rows` rows of `floats` floats, `stride` floats apart. */
csrconv_status csrconv_cuda_clear(float *first, int64_t rows, int64_t floats, int64_t stride,
                                  void *stream);

/* Queues the filling of `count` floats with numbers of [-1, 1) that look random: for contests. */
csrconv_status csrconv_cuda_fill(float *floats, int64_t count, void *stream);

#ifdef __cplusplus
}
#endif

#endif
