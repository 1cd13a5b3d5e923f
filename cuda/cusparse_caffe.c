/* The peer cusparse_caffe: the sparse lowering of Caffe's descendants. */
#include "cusparse_conv.h"
#include "lowered_conv.h"

static const struct csrconv_cusparse_traits traits = { .is_image_by_image = true };

const struct csrconv_algorithm csrconv_algorithm_cusparse_caffe = {
    .traits = &traits,
    .info = { .name = "cusparse_caffe",
              .summary = "im2col and SpMM of cuSPARSE image by image, as in Caffe",
              .device = CSRCONV_DEVICE_CUDA,
              .is_peer = 1,
              .math = "fp32",
              .layout = "nchw",
              .limits = CSRCONV_CUSPARSE_LIMITS },
    .version = csrconv_cusparse_version,
    .estimate = csrconv_cusparse_estimate,
    .prepare = csrconv_cusparse_prepare,
    .lay_out = csrconv_lowered_lay_out,
    .execute = csrconv_lowered_execute,
    .destroy = csrconv_cusparse_destroy,
};
