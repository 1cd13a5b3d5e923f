/*
 * Conversion between the caller's NCHW float32 and what a vendor's library works on: NCHW or NHWC,
 * float32 or float16, images one behind the other. NHWC may have channels of zeros behind the
 * others, so that each pixel's channels are whole vectors.
 */
#ifndef CSRCONV_CUDA_LAYOUT_H
#define CSRCONV_CUDA_LAYOUT_H

#include "layout_move.h"
#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queues the conversion of all images, from the outer side to the inner, where floats beyond the
 * range of float16 become infinite.
 */
csrconv_status csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                      const struct csrconv_cuda_images *images, const float *from,
                                      void *to, void *stream);

/* The same back, without the channels of zeros; nothing between the images is written. */
csrconv_status csrconv_cuda_from_format(const struct csrconv_cuda_format *format,
                                        const struct csrconv_cuda_images *images, const void *from,
                                        float *to, void *stream);

#ifdef __cplusplus
}
#endif

#endif
