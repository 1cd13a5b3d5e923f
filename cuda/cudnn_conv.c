/*
 * Activations are converted into the layout and type of the fastest plan, outside of what is timed:
 * a network that runs on cuDNN keeps them there. The workspace always holds the converted input and
 * output, also where they are NCHW float32: the plan is for a fixed batch, and an execute of fewer
 * images must not reach beyond the caller's tensors.
 */
#include "cudnn_conv.h"

#include "cudnn_contest.h"
#include "dense.h"
#include "device.h"
#include "peer_epilogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PART_ALIGNMENT = 256 };

struct cudnn {
    cudnnHandle_t handle;
    struct csrconv_cudnn_winner winner;
    float *bias;
    /* Parts of the workspace, in bytes from its start; the input is the first. */
    size_t out_at, scratch_at;
};

/* *handle = NULL after a failure. */
static csrconv_status make_handle(cudnnHandle_t *handle)
{
    const csrconv_status status = csrconv_cudnn_check(cudnnCreate(handle), "its handle");
    if (status)
        *handle = NULL;
    return status;
}

/* Whether cuDNN proposes anything for one of the layouts; nothing is built or run for that. */
csrconv_status csrconv_cudnn_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate)
{
    const struct csrconv_cudnn_math *math = self->traits;
    cudnnHandle_t handle;
    csrconv_status status = make_handle(&handle);
    if (status)
        return status;
    for (int is_nhwc = 0; is_nhwc < 2; is_nhwc++) {
        const struct csrconv_cuda_format format = { is_nhwc, math->is_half };
        struct csrconv_cudnn_graph graph;
        struct csrconv_cudnn_plans plans = { .count = 0 };
        status = csrconv_cudnn_graph_make(handle, &problem->shape, &format, &graph);
        if (!status)
            status = csrconv_cudnn_plans_find(&graph, math, &plans);
        csrconv_cudnn_plans_free(&plans);
        csrconv_cudnn_graph_free(&graph);
        if (!status)
            break;
    }
    (void)cudnnDestroy(handle);
    estimate->us = csrconv_dense_us(problem);
    return status;
}

void csrconv_cudnn_destroy(const struct csrconv_memory *memory, void *state)
{
    struct cudnn *c = state;
    if (!c)
        return;
    csrconv_cudnn_winner_free(&c->winner);
    if (c->handle)
        (void)cudnnDestroy(c->handle);
    csrconv_cuda_free(c->bias);
    csrconv_release(memory, c);
}

/* The weights with their zeros, on the device, until they are converted. */
static csrconv_status upload_dense(const struct csrconv_problem *problem,
                                   const struct csrconv_memory *memory, float **dense)
{
    struct csrconv_memory transient = { .allocator = memory->allocator };
    float *host = NULL;
    csrconv_status status = csrconv_dense_weights(problem->weights, &transient, &host);
    *dense = NULL;
    if (!status)
        status = csrconv_cuda_upload(&transient, host,
                                     problem->weights->filters * problem->weights->columns,
                                     sizeof *host, (void **)dense);
    csrconv_release(memory, host);
    return status;
}

/* Keeps the faster of two, frees the other; us is 0 where a layout has no plan. */
static void keep_faster(struct csrconv_cudnn_winner *best, struct csrconv_cudnn_winner *other)
{
    const int rivals = best->rivals + other->rivals;
    if (best->us == 0.0 || (other->us > 0.0 && other->us < best->us)) {
        const struct csrconv_cudnn_winner slower = *best;
        *best = *other;
        *other = slower;
    }
    csrconv_cudnn_winner_free(other);
    best->rivals = rivals;
}

/* Whether a layout's failure is more than that layout's: there is no going on with the other. */
static bool is_fatal(csrconv_status status)
{
    return status && status != CSRCONV_NOT_SUPPORTED && status != CSRCONV_OUT_OF_MEMORY;
}

static csrconv_status hold_contests(const struct csrconv_cudnn_math *math,
                                    const struct csrconv_problem *problem, const float *dense,
                                    struct cudnn *c)
{
    struct csrconv_cudnn_winner other;
    csrconv_status second;
    const csrconv_status first =
        csrconv_cudnn_contest(c->handle, problem, math, dense, false, &c->winner);
    if (is_fatal(first))
        return first;
    second = csrconv_cudnn_contest(c->handle, problem, math, dense, true, &other);
    keep_faster(&c->winner, &other);
    return first || is_fatal(second) ? second : CSRCONV_OK;
}

static csrconv_status choose(const struct csrconv_cudnn_math *math,
                             const struct csrconv_problem *problem, struct csrconv_memory *memory,
                             struct cudnn *c)
{
    float *dense;
    csrconv_status status = upload_dense(problem, memory, &dense);
    if (!status)
        status = hold_contests(math, problem, dense, c);
    memory->bytes += c->winner.weights_bytes;
    csrconv_cuda_free(dense);
    return status;
}

static size_t rounded_up(size_t bytes)
{
    return (bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

static size_t place_workspace(const struct csrconv_shape *shape, struct cudnn *c)
{
    const struct csrconv_cudnn_winner *w = &c->winner;
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, &w->format);
    c->out_at = rounded_up(csrconv_cudnn_bytes(sizes.in, &w->format));
    c->scratch_at = c->out_at + rounded_up(csrconv_cudnn_bytes(sizes.out, &w->format));
    return c->scratch_at + (size_t)w->plan.workspace_bytes;
}

/* " with 3 channels filled up to 8 and 30 filters to 32", or "". */
static void describe_zeros(const struct csrconv_shape *shape,
                           const struct csrconv_cuda_format *format, char *text, size_t bytes)
{
    const csrconv_geometry *g = &shape->g;
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, format);
    text[0] = '\0';
    if (sizes.in[1] != g->channels || sizes.out[1] != g->filters)
        snprintf(text, bytes,
                 " with %" PRId64 " channels filled up to %" PRId64 " and %" PRId64
                 " filters to %" PRId64,
                 g->channels, sizes.in[1], g->filters, sizes.out[1]);
}

static void describe(const struct csrconv_cudnn_winner *winner, const struct csrconv_shape *shape,
                     struct csrconv_prepared *prepared)
{
    char zeros[128];
    const char *transform = csrconv_cudnn_transform(winner->plan.notes);
    const char *layout = winner->format.is_nhwc ? "NHWC" : "NCHW";
    const char *type = winner->format.is_half ? "float16" : "float32";
    describe_zeros(shape, &winner->format, zeros, sizeof zeros);
    snprintf(prepared->variant, sizeof prepared->variant, "%s eng%d%s%s %.40s", layout,
             (int)winner->plan.engine, transform ? " " : "", transform ? transform : "",
             winner->plan.knobs);
    snprintf(
        prepared->detail, sizeof prepared->detail,
        "%s %s%s, engine %" PRId64 "%s%s (knobs: %s), the fastest of %d plans; conversions from "
        "and to NCHW float32 are not in the time",
        layout, type, zeros, winner->plan.engine, transform ? ", " : "", transform ? transform : "",
        winner->plan.knobs[0] ? winner->plan.knobs : "none", winner->rivals);
}

csrconv_status csrconv_cudnn_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared)
{
    struct cudnn *c;
    csrconv_status status = csrconv_allocate(&prepared->memory, 1, sizeof *c, &prepared->state);
    if (status)
        return status;
    c = prepared->state;
    memset(c, 0, sizeof *c);
    if ((status = make_handle(&c->handle)) ||
        (status = csrconv_cuda_upload_bias(problem, &prepared->memory, &c->bias)) ||
        (status = choose(self->traits, problem, &prepared->memory, c)))
        return status;
    prepared->workspace_bytes = place_workspace(&problem->shape, c);
    prepared->is_mixing = csrconv_cudnn_transform(c->winner.plan.notes) != NULL;
    describe(&c->winner, &problem->shape, prepared);
    return CSRCONV_OK;
}

static char *part(const struct csrconv_run *run, size_t at)
{
    return (char *)run->workspace + at;
}

/* Images that are not run are zeros. */
csrconv_status csrconv_cudnn_lay_out(const void *state, const struct csrconv_run *run)
{
    const struct cudnn *c = state;
    const struct csrconv_shape *shape = run->shape;
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, &c->winner.format);
    const struct csrconv_cuda_images images = { run->n, shape->g.channels, shape->plane,
                                                shape->g.in_batch_stride, sizes.in[1] };
    const size_t bytes = csrconv_cudnn_bytes(sizes.in, &c->winner.format);
    const size_t used = bytes / (size_t)shape->g.batch * (size_t)run->n;
    const csrconv_status status =
        csrconv_cuda_to_format(&c->winner.format, &images, run->in, run->workspace, run->stream);
    if (status || used == bytes)
        return status;
    return csrconv_cuda_check(cudaMemsetAsync(part(run, used), 0, bytes - used, run->stream),
                              "the images that are not run");
}

csrconv_status csrconv_cudnn_compute(const void *state, const struct csrconv_run *run)
{
    const struct cudnn *c = state;
    const struct csrconv_cudnn_buffers buffers = { run->workspace, c->winner.weights,
                                                   part(run, c->out_at), part(run, c->scratch_at) };
    return csrconv_cudnn_plan_run(c->handle, &c->winner.plan, &buffers, run->stream);
}

csrconv_status csrconv_cudnn_execute(const void *state, const struct csrconv_run *run)
{
    const struct cudnn *c = state;
    const struct csrconv_shape *shape = run->shape;
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, &c->winner.format);
    const struct csrconv_cuda_images images = { run->n, shape->g.filters, shape->out_plane,
                                                shape->g.out_batch_stride, sizes.out[1] };
    csrconv_status status;
    if ((status = csrconv_cudnn_lay_out(state, run)) ||
        (status = csrconv_cudnn_compute(state, run)) ||
        (status = csrconv_cuda_from_format(&c->winner.format, &images, part(run, c->out_at),
                                           run->out, run->stream)))
        return status;
    return csrconv_cuda_peer_epilogue(run, c->bias);
}

const char *csrconv_cudnn_version(void)
{
    static char text[32];
    const size_t v = cudnnGetVersion();
    if (!text[0])
        snprintf(text, sizeof text, "cuDNN %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    return text;
}
