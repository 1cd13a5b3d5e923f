/* The peer onednn: the convolution that oneDNN picks by itself. */
#include "cpu_model.h"
#include "onednn_conv.h"

static csrconv_status refuse(const struct csrconv_problem *problem)
{
    return csrconv_onednn_refuse(problem, CSRCONV_ONEDNN_AUTO);
}

static csrconv_status prepare(const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared)
{
    return csrconv_onednn_prepare(problem, prepared, CSRCONV_ONEDNN_AUTO);
}

const struct csrconv_algorithm csrconv_algorithm_onednn = {
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
    .refuse = refuse,
    .estimate = csrconv_cpu_dense_us,
    .prepare = prepare,
    .lay_out = csrconv_onednn_lay_out,
    .compute = csrconv_onednn_compute,
    .execute = csrconv_onednn_execute,
    .destroy = csrconv_onednn_destroy,
};
