/* The peer onednn: the convolution that oneDNN picks by itself. */
#include "onednn_conv.h"

static const enum csrconv_onednn_kind kind = CSRCONV_ONEDNN_AUTO;

const struct csrconv_algorithm csrconv_algorithm_onednn = {
    .traits = &kind,
    .info = { .name = "onednn",
              .summary = "dense convolution that oneDNN picks",
              .device = CSRCONV_DEVICE_CPU,
              .is_peer = 1,
              .is_dense = 1,
              .math = "fp32",
              .layout = "best",
              .limits = "oneDNN allocates and starts threads inside, and their number is global to "
                        "the process; a pruned weight times NaN or infinity is NaN" },
    .version = csrconv_onednn_version,
    .estimate = csrconv_onednn_estimate,
    .prepare = csrconv_onednn_prepare,
    .lay_out = csrconv_onednn_lay_out,
    .compute = csrconv_onednn_compute,
    .execute = csrconv_onednn_execute,
    .destroy = csrconv_onednn_destroy,
};
