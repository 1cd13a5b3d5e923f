/*
 * Conversion between the caller's NCHW float32 and what a vendor's library works on: NCHW or NHWC,
 * float32 or float16, images one behind the other.
 */
#ifndef CSRCONV_CUDA_LAYOUT_H
#define CSRCONV_CUDA_LAYOUT_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inner side. Floats beyond the range of float16 become infinite in it. */
struct csrconv_cuda_format {
    bool is_nhwc;
    bool is_half;
};

/* The outer side: `count` images of channels * plane floats, `stride` floats apart. */
struct csrconv_cuda_images {
    int64_t count, channels, plane, stride;
};

/* Queues the conversion of all images, from the outer side to the inner. */
csrconv_status csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                      const struct csrconv_cuda_images *images, const float *from,
                                      void *to, void *stream);

/* The same back; nothing between the images is written. */
csrconv_status csrconv_cuda_from_format(const struct csrconv_cuda_format *format,
                                        const struct csrconv_cuda_images *images, const void *from,
                                        float *to, void *stream);

#ifdef __cplusplus
}
#endif

#endif
