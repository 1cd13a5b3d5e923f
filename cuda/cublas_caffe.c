/* The peer cublas_caffe: the lowering that Caffe and the papers built on it ran. */
#include "cublas_conv.h"
#include "lowered_conv.h"

#include "lowering.h"

static const struct csrconv_cublas_traits traits = { .is_image_by_image = true };

const struct csrconv_algorithm csrconv_algorithm_cublas_caffe = {
    .traits = &traits,
    .info = { .name = "cublas_caffe",
              .summary = "im2col and SGEMM of cuBLAS image by image, as in Caffe",
              .device = CSRCONV_DEVICE_CUDA,
              .is_peer = 1,
              .is_dense = 1,
              .math = "fp32",
              .layout = "nchw",
              .limits = CSRCONV_CUBLAS_LIMITS },
    .version = csrconv_cublas_version,
    .estimate = csrconv_cublas_estimate,
    .prepare = csrconv_cublas_prepare,
    .lay_out = csrconv_lowered_lay_out,
    .execute = csrconv_lowered_execute,
    .destroy = csrconv_cublas_destroy,
};
