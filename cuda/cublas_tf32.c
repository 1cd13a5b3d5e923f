/* The peer cublas_tf32: the tensor cores round the factors to TF32. */
#include "cublas_conv.h"
#include "lowered_conv.h"

#include "lowering.h"

static const struct csrconv_cublas_traits traits = { .is_tf32 = true };

const struct csrconv_algorithm csrconv_algorithm_cublas_tf32 = {
    .traits = &traits,
    .info = { .name = "cublas_tf32",
              .summary = "im2col and GEMM of cuBLAS in TF32, the fastest layout",
              .device = CSRCONV_DEVICE_CUDA,
              .is_peer = 1,
              .is_dense = 1,
              .math = "tf32",
              .layout = "nchw",
              .limits = CSRCONV_CUBLAS_LIMITS },
    .version = csrconv_cublas_version,
    .estimate = csrconv_cublas_estimate,
    .prepare = csrconv_cublas_prepare,
    .lay_out = csrconv_lowered_lay_out,
    .execute = csrconv_lowered_execute,
    .destroy = csrconv_cublas_destroy,
};
