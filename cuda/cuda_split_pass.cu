/* cuda_split where the chunks' sums go through memory to a second kernel, as any GPU can do it. */
#include "cuda_split.h"

static const struct csrconv_split_traits traits = { false };

extern "C" const struct csrconv_algorithm csrconv_algorithm_cuda_split_pass = {
    .traits = &traits,
    .info = { .name = "cuda_split_pass",
              .summary = "cuda_split with a second kernel that adds the chunks' sums",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = csrconv_split_estimate,
    .prepare = csrconv_split_prepare,
    .execute = csrconv_split_execute,
    .destroy = csrconv_split_destroy,
};
