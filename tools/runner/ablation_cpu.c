#include "ablation.h"

#include "choose.h"
#include "status.h"
#include "tiled.h"

#include <stdio.h>
#include <string.h>

/* The widest blocked kernel that runs the problem, or NULL with the reason of the last. */
static const struct csrconv_algorithm *blocked_kernel(const struct csrconv_problem *problem)
{
    static const char *const names[] = { "direct_avx512", "direct_avx2" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct csrconv_algorithm *a = csrconv_find_algorithm(names[i], NULL);
        if (a && !a->refuse(a, problem))
            return a;
    }
    return NULL;
}

static csrconv_status refuse(const struct csrconv_algorithm *self,
                             const struct csrconv_problem *problem)
{
    (void)self;
    return blocked_kernel(problem)
               ? CSRCONV_OK
               : csrconv_fail(CSRCONV_NOT_SUPPORTED, "no blocked kernel runs here");
}

static double estimate(const struct csrconv_algorithm *self, const struct csrconv_problem *problem)
{
    const struct csrconv_algorithm *kernel = blocked_kernel(problem);
    (void)self;
    return kernel->estimate(kernel, problem);
}

static csrconv_status prepare(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared)
{
    const struct csrconv_algorithm *kernel = blocked_kernel(problem);
    const struct csrconv_ablation *without = self->traits;
    struct csrconv_problem changed = *problem;
    csrconv_status status;
    size_t used;
    changed.without = *without;
    status = kernel->prepare(kernel, &changed, prepared);
    used = strlen(prepared->detail);
    if (without->segment_order)
        snprintf(prepared->detail + used, sizeof prepared->detail - used, ", filters as they come");
    return status;
}

static const struct csrconv_algorithm complete = {
    .traits = &(const struct csrconv_ablation){ 0 },
    .info = { .name = "complete",
              .summary = "the blocked kernel as it is",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

static const struct csrconv_algorithm one_block = {
    .traits = &(const struct csrconv_ablation){ .channel_blocks = true },
    .info = { .name = "one_block",
              .summary = "all channels in one block, whatever the first cache holds",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

static const struct csrconv_algorithm natural_order = {
    .traits = &(const struct csrconv_ablation){ .segment_order = true },
    .info = { .name = "natural_order",
              .summary = "filters as they come, not those with segments of equal length together",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

static const struct csrconv_algorithm single_tiles = {
    .traits = &(const struct csrconv_ablation){ .grouped_stores = true },
    .info = { .name = "single_tiles",
              .summary = "each tile of outputs stored by itself, not rows of them together",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

static const struct csrconv_algorithm images_in_lanes = {
    .traits = &(const struct csrconv_ablation){ .pixels_in_lanes = true },
    .info = { .name = "images_in_lanes",
              .summary = "a vector holds a pixel of many images, always",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

static const struct csrconv_algorithm pixels_in_lanes = {
    .traits = &(const struct csrconv_ablation){ .images_in_lanes = true },
    .info = { .name = "pixels_in_lanes",
              .summary = "a vector holds neighbouring pixels of one image, always",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .refuse = refuse,
    .estimate = estimate,
    .prepare = prepare,
    .lay_out = csrconv_tiled_lay_out,
    .execute = csrconv_tiled_execute,
    .destroy = csrconv_tiled_destroy,
};

const csrconv_algorithm *const ablation_cpu_table[] = {
    &complete, &one_block, &natural_order, &single_tiles, &images_in_lanes, &pixels_in_lanes, NULL
};
