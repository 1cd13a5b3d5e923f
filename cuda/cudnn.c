/* The peer cudnn: cuDNN's convolution with products in float32. */
#include "cudnn_conv.h"

static const struct csrconv_cudnn_math math = { .is_half = false, .is_tensor_core = false };

const struct csrconv_algorithm csrconv_algorithm_cudnn = {
    .traits = &math,
    .info = { .name = "cudnn",
              .summary = "dense convolution of cuDNN without tensor cores",
              .device = CSRCONV_DEVICE_CUDA,
              .is_peer = 1,
              .is_dense = 1,
              .math = "fp32",
              .layout = "best",
              .limits =
                  "cuDNN allocates on the host and locks inside; one execute of a plan at a "
                  "time; two runs may differ in their last bits; a pruned weight times NaN "
                  "or infinity is NaN; in NHWC, channels and filters of a single group are filled "
                  "up with zeros to vectors of 16 bytes" },
    .version = csrconv_cudnn_version,
    .estimate = csrconv_cudnn_estimate,
    .prepare = csrconv_cudnn_prepare,
    .lay_out = csrconv_cudnn_lay_out,
    .compute = csrconv_cudnn_compute,
    .execute = csrconv_cudnn_execute,
    .destroy = csrconv_cudnn_destroy,
};
