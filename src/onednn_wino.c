/* The peer onednn_wino: oneDNN's Winograd convolution, which it never picks by itself. */
#include "onednn_conv.h"

static const enum csrconv_onednn_kind kind = CSRCONV_ONEDNN_WINOGRAD;

const struct csrconv_algorithm csrconv_algorithm_onednn_wino = {
    .traits = &kind,
    .info = { .name = "onednn_wino",
              .summary = "Winograd convolution of oneDNN",
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
