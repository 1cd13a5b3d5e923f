#include "ablation.h"

#include "choose.h"
#include "status.h"
#include "tiled.h"

#include <stdio.h>
#include <string.h>

/* The widest blocked kernel that runs the problem, and its estimate; or NULL. */
static const struct csrconv_algorithm *blocked_kernel(const struct csrconv_problem *problem,
                                                      struct csrconv_estimate *estimate)
{
    static const char *const names[] = { "direct_avx512", "direct_avx2" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct csrconv_algorithm *a = csrconv_find_algorithm(names[i], NULL);
        if (a && !a->estimate(a, problem, estimate))
            return a;
    }
    return NULL;
}

static csrconv_status estimate(const struct csrconv_algorithm *self,
                               const struct csrconv_problem *problem,
                               struct csrconv_estimate *estimate)
{
    (void)self;
    return blocked_kernel(problem, estimate)
               ? CSRCONV_OK
               : csrconv_fail(CSRCONV_NOT_SUPPORTED, "no blocked kernel runs here");
}

static csrconv_status prepare(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared)
{
    struct csrconv_estimate complete;
    const struct csrconv_algorithm *kernel = blocked_kernel(problem, &complete);
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

/* What all share. */
#define VARIANT(called, does, ...)                                                                 \
    {                                                                                              \
        .traits = &(const struct csrconv_ablation){ __VA_ARGS__ },                                 \
        .info = { .name = (called),                                                                \
                  .summary = (does),                                                               \
                  .device = CSRCONV_DEVICE_CPU,                                                    \
                  .math = "fp32",                                                                  \
                  .layout = "nchw" },                                                              \
        .estimate = estimate, .prepare = prepare, .lay_out = csrconv_tiled_lay_out,                \
        .execute = csrconv_tiled_execute, .destroy = csrconv_tiled_destroy,                        \
    }

static const struct csrconv_algorithm variants[] = {
    VARIANT("complete", "the blocked kernel as it is", 0),
    VARIANT("one_block", "all channels in one block, whatever the first cache holds",
            .channel_blocks = true),
    VARIANT("natural_order",
            "filters as they come, not those with segments of equal length together",
            .segment_order = true),
    VARIANT("single_tiles", "each tile of outputs stored by itself, not rows of them together",
            .grouped_stores = true),
    VARIANT("images_in_lanes", "a vector holds a pixel of many images, always",
            .pixels_in_lanes = true),
    VARIANT("pixels_in_lanes", "a vector holds neighbouring pixels of one image, always",
            .images_in_lanes = true),
};

const csrconv_algorithm *const ablation_cpu_table[] = { &variants[0], &variants[1], &variants[2],
                                                        &variants[3], &variants[4], &variants[5],
                                                        NULL };
