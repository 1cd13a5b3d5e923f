/* The peer cudnn_fp16: cuDNN's convolution of float16 tensors, with sums in float32. */
#include "cudnn_conv.h"

static const struct csrconv_cudnn_math math = { .is_half = true, .is_tensor_core = true };

const struct csrconv_algorithm csrconv_algorithm_cudnn_fp16 = {
    .traits = &math,
    .info = { .name = "cudnn_fp16",
              .summary = "dense convolution of cuDNN on tensor cores, float16",
              .device = CSRCONV_DEVICE_CUDA,
              .is_peer = 1,
              .is_dense = 1,
              .math = "fp16",
              .layout = "best",
              .limits =
                  "cuDNN allocates on the host and locks inside; one execute of a plan at a "
                  "time; two runs may differ in their last bits; a pruned weight times NaN "
                  "or infinity is NaN; in NHWC, channels and filters of a single group are filled "
                  "up with zeros to vectors of 16 bytes; activations, weights and sums beyond "
                  "65504 become "
                  "infinite" },
    .version = csrconv_cudnn_version,
    .estimate = csrconv_cudnn_estimate,
    .prepare = csrconv_cudnn_prepare,
    .lay_out = csrconv_cudnn_lay_out,
    .compute = csrconv_cudnn_compute,
    .execute = csrconv_cudnn_execute,
    .destroy = csrconv_cudnn_destroy,
};
