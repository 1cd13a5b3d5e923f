/* The peer cublas: fp32 without tensor cores. */
#include "cublas_conv.h"
#include "lowered_conv.h"

#include "lowering.h"

static const struct csrconv_cublas_traits traits = { .is_tf32 = false };

const struct csrconv_algorithm csrconv_algorithm_cublas = {
    .traits = &traits,
    .info = { .name = "cublas",
              .summary = "im2col and GEMM of cuBLAS in fp32, the fastest layout",
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
