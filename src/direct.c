/*
 * Direct sparse convolution in its plainest form, and so the specification of it: an output pixel
 * is the inner product of a filter's stretched row with the image that starts at the pixel's own
 * base address in the zero-bordered input. Runs everything, on one number at a time.
 */
#include "algorithm.h"
#include "cpu_model.h"
#include "epilogue.h"
#include "pad.h"
#include "status.h"
#include "stretch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The CSR matrix with stretched columns. */
struct direct {
    int64_t *indptr;
    int64_t *offsets;
    float *values;
};

struct job {
    const struct direct *direct;
    const struct csrconv_run *run;
    const float *padded;
    int64_t padded_stride; /* floats from an image to the next in padded */
};

static void direct_destroy(const struct csrconv_memory *memory, void *state)
{
    struct direct *direct = state;
    if (!direct)
        return;
    csrconv_release(memory, direct->values);
    csrconv_release(memory, direct->offsets);
    csrconv_release(memory, direct->indptr);
    csrconv_release(memory, direct);
}

static csrconv_status direct_allocate(const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared, struct direct **out)
{
    struct csrconv_memory *memory = &prepared->memory;
    const int64_t nonzeros = csrconv_nonzeros(problem->weights);
    struct direct *direct;
    csrconv_status status = csrconv_allocate(memory, 1, sizeof *direct, &prepared->state);
    if (status)
        return status;
    direct = *out = prepared->state;
    memset(direct, 0, sizeof *direct);
    if ((status = csrconv_allocate(memory, problem->weights->filters + 1, sizeof *direct->indptr,
                                   (void **)&direct->indptr)) ||
        (status = csrconv_allocate(memory, nonzeros, sizeof *direct->offsets,
                                   (void **)&direct->offsets)))
        return status;
    return csrconv_allocate(memory, nonzeros, sizeof *direct->values, (void **)&direct->values);
}

static csrconv_status direct_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared)
{
    const struct csrconv_shape *shape = &problem->shape;
    const struct csrconv_weights *weights = problem->weights;
    const size_t nonzeros = (size_t)csrconv_nonzeros(weights);
    struct direct *direct;
    const csrconv_status status = direct_allocate(problem, prepared, &direct);
    (void)self;
    if (status)
        return status;
    memcpy(direct->indptr, weights->indptr,
           (size_t)(weights->filters + 1) * sizeof *direct->indptr);
    memcpy(direct->values, weights->values, nonzeros * sizeof *direct->values);
    csrconv_stretch(shape, weights, direct->offsets);
    prepared->is_in_place = !csrconv_has_padding(shape);
    if (!prepared->is_in_place)
        prepared->workspace_bytes = (size_t)(shape->g.batch * shape->padded_image) * sizeof(float);
    snprintf(prepared->detail, sizeof prepared->detail,
             "one output at a time, a filter of an image per task; input %s",
             prepared->is_in_place ? "read in place" : "copied into zero borders");
    return CSRCONV_OK;
}

/* One output plane: image `image`, filter m. */
static void direct_plane(const struct job *job, int64_t image, int64_t m)
{
    const struct direct *direct = job->direct;
    const struct csrconv_run *run = job->run;
    const struct csrconv_shape *shape = run->shape;
    const int64_t begin = direct->indptr[m], end = direct->indptr[m + 1];
    const int64_t group = m / shape->group_filters;
    const int64_t at = image * shape->g.out_batch_stride + m * shape->out_plane;
    const float bias = run->epilogue->bias ? run->epilogue->bias[m] : 0.0F;
    const float *planes = job->padded + image * job->padded_stride +
                          group * shape->group_channels * shape->padded_plane;
    for (int64_t y = 0; y < shape->out_h; y++) {
        for (int64_t x = 0; x < shape->out_w; x++) {
            const float *window =
                planes + y * shape->g.stride_h * shape->padded_w + x * shape->g.stride_w;
            const int64_t pixel = at + y * shape->out_w + x;
            float sum = bias;
            for (int64_t i = begin; i < end; i++)
                sum += direct->values[i] * window[direct->offsets[i]];
            if (run->residual)
                sum += run->residual[pixel];
            run->out[pixel] = csrconv_activate(run->epilogue, sum);
        }
    }
}

/* Items are the output planes, counted through the batch. */
static void direct_planes(void *argument, int64_t begin, int64_t end)
{
    const struct job *job = argument;
    const int64_t filters = job->run->shape->g.filters;
    for (int64_t i = begin; i < end; i++)
        direct_plane(job, i / filters, i % filters);
}

static csrconv_status direct_lay_out(const void *state, const struct csrconv_run *run)
{
    (void)state;
    if (csrconv_has_padding(run->shape))
        csrconv_pad_images(run->shape, run->team, run->n, run->in, run->workspace);
    return CSRCONV_OK;
}

static csrconv_status direct_execute(const void *state, const struct csrconv_run *run)
{
    const struct csrconv_shape *shape = run->shape;
    struct job job = { state, run, run->in, shape->g.in_batch_stride };
    const csrconv_status status = direct_lay_out(state, run);
    if (status)
        return status;
    if (csrconv_has_padding(shape)) {
        job.padded = run->workspace;
        job.padded_stride = shape->padded_image;
    }
    csrconv_team_run(run->team, run->n * shape->g.filters, direct_planes, &job);
    return CSRCONV_OK;
}

/* A scalar multiply-add waits for the one before it: 4 clocks each at 3-4 GHz. */
static csrconv_status direct_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate)
{
    const double products_per_us = 0.8e3, outputs_per_us = 0.5e3;
    const double outputs = (double)problem->shape.g.batch * (double)problem->shape.out_image;
    (void)self;
    estimate->us = csrconv_cpu_time_us(problem, csrconv_sparse_products(problem), products_per_us) +
                   csrconv_cpu_time_us(problem, outputs, outputs_per_us);
    return CSRCONV_OK;
}

const struct csrconv_algorithm csrconv_algorithm_direct = {
    .info = { .name = "direct",
              .summary = "stretched CSR walked per output pixel, the specification",
              .device = CSRCONV_DEVICE_CPU,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = direct_estimate,
    .prepare = direct_prepare,
    .lay_out = direct_lay_out,
    .execute = direct_execute,
    .destroy = direct_destroy,
};
