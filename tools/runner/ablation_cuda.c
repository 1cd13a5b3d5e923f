#include "ablation.h"

#include "choose.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* NULL in a build without it. The variants pass everything on to it, but for what they change. */
static const struct csrconv_algorithm *kernel(void)
{
    return csrconv_find_algorithm("cuda_tiled", NULL);
}

static struct csrconv_problem without_choice(const struct csrconv_algorithm *self,
                                             const struct csrconv_problem *problem)
{
    const struct csrconv_ablation *without = self->traits;
    struct csrconv_problem changed = *problem;
    changed.without = *without;
    return changed;
}

static csrconv_status estimate(const struct csrconv_algorithm *self,
                               const struct csrconv_problem *problem,
                               struct csrconv_estimate *estimate)
{
    const struct csrconv_algorithm *k = kernel();
    const struct csrconv_problem changed = without_choice(self, problem);
    if (!k)
        return csrconv_fail(CSRCONV_NOT_BUILT, "this build has no cuda_tiled");
    return k->estimate(k, &changed, estimate);
}

/* The plan may look the same without a choice that the kernel does not tell of. */
static csrconv_status prepare(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared)
{
    const struct csrconv_algorithm *k = kernel();
    const struct csrconv_problem changed = without_choice(self, problem);
    const struct csrconv_ablation *without = &changed.without;
    const csrconv_status status = k->prepare(k, &changed, prepared);
    const size_t used = strlen(prepared->detail);
    snprintf(prepared->detail + used, sizeof prepared->detail - used, "%s%s%s%s",
             without->row_order ? ", filters as they come" : "",
             without->pixel_tiles ? ", one output a lane" : "",
             without->staged_offsets ? ", offsets not loaded ahead" : "",
             without->eviction ? ", no eviction policies" : "");
    return status;
}

static csrconv_status lay_out(const void *state, const struct csrconv_run *run)
{
    const struct csrconv_algorithm *k = kernel();
    return k->lay_out ? k->lay_out(state, run)
                      : csrconv_fail(CSRCONV_NOT_SUPPORTED, "%s has no pass over the activations",
                                     k->info.name);
}

static csrconv_status execute(const void *state, const struct csrconv_run *run)
{
    return kernel()->execute(state, run);
}

/* Nothing was prepared of what was refused. */
static void destroy(const struct csrconv_memory *memory, void *state)
{
    if (state)
        kernel()->destroy(memory, state);
}

/* What all share. */
#define VARIANT(called, does, ...)                                                                 \
    {                                                                                              \
        .traits = &(const struct csrconv_ablation){ __VA_ARGS__ },                                 \
        .info = { .name = (called),                                                                \
                  .summary = (does),                                                               \
                  .device = CSRCONV_DEVICE_CUDA,                                                   \
                  .math = "fp32",                                                                  \
                  .layout = "nchw" },                                                              \
        .estimate = estimate, .prepare = prepare, .lay_out = lay_out, .execute = execute,          \
        .destroy = destroy,                                                                        \
    }

static const struct csrconv_algorithm variants[] = {
    VARIANT("complete", "cuda_tiled as it is", 0),
    VARIANT("natural_rows", "filters as they come, not dealt so that warps have equal work",
            .row_order = true),
    VARIANT("single_pixels",
            "one filter and one output in a lane, so that nothing loaded serves two",
            .pixel_tiles = true),
    VARIANT("unstaged", "offsets and values loaded where they are needed, not ahead",
            .staged_offsets = true),
    VARIANT("no_eviction", "no policies what the second cache is to keep", .eviction = true),
};

const csrconv_algorithm *const ablation_cuda_table[] = { &variants[0], &variants[1], &variants[2],
                                                         &variants[3], &variants[4], NULL };
