/*
 * Weights compiled into code: for each panel of filters straight-line code in which weights are
 * immediates, so that one input loaded feeds all the filters that want it.
 * jit/jit_tiling.h says how a convolution is cut, jit/jit_schedule.h what the code does,
 * jit/jit_ptx.c prints it.
 */
#include "cuda_jit.h"

#include "cuda_tiled.h"
#include "jit_build.h"
#include "jit_compile.h"
#include "jit_contents.h"
#include "jit_cost.h"
#include "runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_CAPABILITY = 90 }; /* bulk copies, and barriers that count their bytes */

struct jit {
    struct csrconv_jit_image *image;
    cudaLibrary_t library; /* NULL: not loaded yet */
    cudaKernel_t kernel;
};

/* The tiling with the least estimated time; or that of a plan that was compiled before. */
static csrconv_status choose(const struct csrconv_problem *problem,
                             struct csrconv_jit_tiling *tiling)
{
    struct csrconv_block_machine machine;
    struct csrconv_jit_work work;
    csrconv_status status = csrconv_tiled_machine(&machine);
    if (status)
        return status;
    if (!problem->compiled.bytes)
        return csrconv_jit_tiling_choose(problem, &machine, tiling);
    status = csrconv_jit_contents_tiling(problem, tiling);
    if (status)
        return status;
    csrconv_jit_work_init(problem, &work);
    tiling->us = csrconv_jit_cost_us(&work, &machine, tiling);
    return CSRCONV_OK;
}

/* Whether code for it can be made here. */
static csrconv_status check_device(struct csrconv_cuda_device *device)
{
    const csrconv_status status = csrconv_cuda_describe(device);
    if (status)
        return status;
    if (device->capability < LEAST_CAPABILITY)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "cuda_jit makes code for compute capability %d.%d and later, not %d.%d",
                            LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10, device->capability / 10,
                            device->capability % 10);
    return csrconv_jit_compiler();
}

_Static_assert(sizeof(struct csrconv_jit_tiling) <= CSRCONV_MAPPING_BYTES, "estimate keeps it");

static csrconv_status jit_estimate(const struct csrconv_algorithm *self,
                                   const struct csrconv_problem *problem,
                                   struct csrconv_estimate *estimate)
{
    struct csrconv_cuda_device device;
    struct csrconv_jit_tiling tiling;
    csrconv_status status = check_device(&device);
    (void)self;
    if (status || (status = choose(problem, &tiling)))
        return status;
    estimate->us = tiling.us;
    memcpy(estimate->mapping, &tiling, sizeof tiling);
    return CSRCONV_OK;
}

static csrconv_status jit_target(const struct csrconv_problem *problem,
                                 char target[CSRCONV_TARGET_BYTES])
{
    struct csrconv_cuda_device device;
    unsigned major, minor;
    const csrconv_status status = check_device(&device);
    (void)problem;
    if (status)
        return status;
    csrconv_jit_compiler_version(&major, &minor);
    snprintf(target, CSRCONV_TARGET_BYTES, "sm_%d by nvJitLink %u.%u", device.capability, major,
             minor);
    return CSRCONV_OK;
}

static size_t jit_contents(const void *state, void *bytes)
{
    const struct jit *jit = state;
    return csrconv_jit_contents(jit->image, bytes);
}

static void jit_destroy(const struct csrconv_memory *memory, void *state)
{
    struct jit *jit = state;
    if (!jit)
        return;
    if (jit->library && cudaLibraryUnload(jit->library))
        (void)cudaGetLastError();
    csrconv_release(memory, jit->image);
    csrconv_release(memory, jit);
}

static csrconv_status load(struct jit *jit, int ordinal)
{
    const int bytes = (int)jit->image->tiling.shared_bytes;
    cudaError_t error =
        cudaLibraryLoadData(&jit->library, jit->image->code, NULL, NULL, 0, NULL, NULL, 0);
    if (!error)
        error = cudaLibraryGetKernel(&jit->kernel, jit->library, "csrconv_jit");
    if (!error)
        error = cudaKernelSetAttributeForDevice(
            jit->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes, ordinal);
    return error ? csrconv_cuda_check(error, "cuda_jit: loading the code")
                 : csrconv_cuda_load((const void *)jit->kernel, "cuda_jit");
}

static void explain(const struct csrconv_shape *shape, const struct csrconv_jit_image *image,
                    struct csrconv_prepared *prepared)
{
    const struct csrconv_jit_tiling *t = &image->tiling;
    char tile[128], cluster[96] = "";
    if (t->chunks > 1)
        snprintf(cluster, sizeof cluster, " in clusters of %" PRId64 " that share the channels",
                 t->chunks);
    if (t->is_flat)
        snprintf(tile, sizeof tile, "%" PRId64 " consecutive outputs of up to %" PRId64 " images%s",
                 t->span, t->slots, t->trims ? ", trimmed to the rows they see" : "");
    else
        snprintf(tile, sizeof tile, "tiles of %" PRId64 " x %" PRId64 " outputs", t->rows,
                 t->columns);
    snprintf(prepared->detail, sizeof prepared->detail,
             "%" PRId64 " panels of %" PRId64 " filters, %" PRId64
             " bytes of code; blocks of %" PRId64 " threads%s, %s; %" PRId64 " stages of %" PRId64
             " channels, %" PRId64 " held; %" PRId64 " blocks a panel, %" PRId64
             " bytes shared, %" PRId64 " blocks a multiprocessor",
             csrconv_jit_panels(shape, t), t->filters, image->code_bytes, t->threads, cluster, tile,
             t->stages, t->stage_channels, t->ring, t->blocks, t->shared_bytes, t->residents);
}

static csrconv_status make_image(const struct csrconv_problem *problem,
                                 const struct csrconv_jit_tiling *tiling,
                                 struct csrconv_memory *memory, struct csrconv_jit_image **image)
{
    struct csrconv_cuda_device device;
    csrconv_status status;
    if (problem->compiled.bytes)
        return csrconv_jit_contents_image(problem, memory, image);
    status = csrconv_cuda_describe(&device);
    return status ? status : csrconv_jit_build(problem, tiling, device.capability, memory, image);
}

csrconv_status csrconv_jit_prepare_as(const struct csrconv_problem *problem,
                                      const struct csrconv_jit_tiling *tiling,
                                      struct csrconv_prepared *prepared)
{
    struct csrconv_memory *memory = &prepared->memory;
    struct jit *jit;
    csrconv_status status = csrconv_allocate(memory, 1, sizeof *jit, &prepared->state);
    if (status)
        return status;
    jit = prepared->state;
    memset(jit, 0, sizeof *jit);
    if ((status = make_image(problem, tiling, memory, &jit->image)) ||
        (status = load(jit, problem->ordinal)))
        return status;
    explain(&problem->shape, jit->image, prepared);
    return CSRCONV_OK;
}

static csrconv_status jit_prepare(const struct csrconv_algorithm *self,
                                  const struct csrconv_problem *problem,
                                  struct csrconv_prepared *prepared)
{
    struct csrconv_jit_tiling tiling;
    (void)self;
    memcpy(&tiling, prepared->estimate->mapping, sizeof tiling);
    return csrconv_jit_prepare_as(problem, &tiling, prepared);
}

static csrconv_status run_images(const struct jit *jit, const struct csrconv_run *run,
                                 int64_t first, int64_t count)
{
    const struct csrconv_shape *shape = run->shape;
    const struct csrconv_jit_tiling *t = &jit->image->tiling;
    const float *in = run->in + first * shape->g.in_batch_stride;
    const float *residual =
        run->residual ? run->residual + first * shape->g.out_batch_stride : NULL;
    float *out = run->out + first * shape->g.out_batch_stride;
    unsigned images = (unsigned)count;
    void *arguments[] = { &in, &out, &residual, &images };
    const dim3 grid = { (unsigned)csrconv_jit_blocks(shape, t, count),
                        (unsigned)csrconv_jit_panels(shape, t), (unsigned)t->chunks };
    cudaLaunchAttribute starts_early = {
        .id = cudaLaunchAttributeProgrammaticStreamSerialization,
        .val = { .programmaticStreamSerializationAllowed = 1 },
    };
    const cudaLaunchConfig_t config = {
        .gridDim = grid,
        .blockDim = { (unsigned)t->threads, 1, 1 },
        .dynamicSmemBytes = (size_t)t->shared_bytes,
        .stream = run->stream,
        .attrs = &starts_early,
        .numAttrs = 1,
    };
    return csrconv_cuda_check(cudaLaunchKernelExC(&config, (const void *)jit->kernel, arguments),
                              "cuda_jit");
}

static csrconv_status jit_execute(const void *state, const struct csrconv_run *run)
{
    const struct jit *jit = state;
    const int64_t most = csrconv_jit_launch_images(run->shape, &jit->image->tiling);
    csrconv_status status = CSRCONV_OK;
    for (int64_t first = 0; first < run->n && !status; first += most)
        status = run_images(jit, run, first, run->n - first < most ? run->n - first : most);
    return status;
}

const struct csrconv_algorithm csrconv_algorithm_cuda_jit = {
    .shares_loads = true,
    .info = { .name = "cuda_jit",
              .summary = "weights compiled into code, straight-line for each panel of filters",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = jit_estimate,
    .target = jit_target,
    .contents = jit_contents,
    .prepare = jit_prepare,
    .execute = jit_execute,
    .destroy = jit_destroy,
};
