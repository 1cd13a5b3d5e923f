#include "cudnn_contest.h"

#include "contest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Filters are images of group_channels planes of R * S; those behind the last are zeros. */
static csrconv_status convert_weights(const struct csrconv_shape *shape, const float *dense,
                                      struct csrconv_cudnn_winner *winner, cudaStream_t stream)
{
    struct csrconv_memory counted = { 0 };
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, &winner->format);
    const struct csrconv_cuda_images filters = { shape->g.filters, shape->group_channels,
                                                 shape->g.kernel_h * shape->g.kernel_w,
                                                 shape->columns, sizes.weights[1] };
    const size_t bytes = csrconv_cudnn_bytes(sizes.weights, &winner->format);
    csrconv_status status;
    if ((status = csrconv_cuda_allocate(&counted, (int64_t)bytes, 1, &winner->weights)) ||
        (status =
             csrconv_cuda_check(cudaMemsetAsync(winner->weights, 0, bytes, stream), "the weights")))
        return status;
    winner->weights_bytes = counted.bytes;
    return csrconv_cuda_to_format(&winner->format, &filters, dense, winner->weights, stream);
}

/* What the plans are timed on. */
struct arena {
    cudnnHandle_t handle;
    struct csrconv_cudnn_plans plans;
    void *in, *out, *workspace;
    const void *weights;
};

static int64_t largest_workspace(const struct csrconv_cudnn_plans *plans)
{
    int64_t most = 0;
    for (int i = 0; i < plans->count; i++)
        if (plans->plan[i].workspace_bytes > most)
            most = plans->plan[i].workspace_bytes;
    return most;
}

/* The input's bytes make small positive numbers in both types, float32 and float16. */
static csrconv_status furnish(const struct csrconv_shape *shape,
                              const struct csrconv_cuda_format *format, struct arena *arena,
                              cudaStream_t stream)
{
    const int small = 0x3c;
    struct csrconv_memory passing = { 0 }; /* not the plan's */
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, format);
    const size_t in_bytes = csrconv_cudnn_bytes(sizes.in, format);
    const size_t out_bytes = csrconv_cudnn_bytes(sizes.out, format);
    csrconv_status status;
    if ((status = csrconv_cuda_allocate(&passing, (int64_t)in_bytes, 1, &arena->in)) ||
        (status = csrconv_cuda_allocate(&passing, (int64_t)out_bytes, 1, &arena->out)) ||
        (status = csrconv_cuda_allocate(&passing, largest_workspace(&arena->plans), 1,
                                        &arena->workspace)))
        return status;
    return csrconv_cuda_check(cudaMemsetAsync(arena->in, small, in_bytes, stream), "a contest");
}

static csrconv_status attempt(void *context, int candidate, cudaStream_t stream)
{
    const struct arena *arena = context;
    const struct csrconv_cudnn_buffers buffers = { arena->in, arena->weights, arena->out,
                                                   arena->workspace };
    return csrconv_cudnn_plan_run(arena->handle, &arena->plans.plan[candidate], &buffers, stream);
}

/* What a contest without a winner means. */
static csrconv_status explain(const struct csrconv_cudnn_plans *plans,
                              const struct csrconv_cuda_format *format,
                              const struct csrconv_cuda_outcome *outcome, csrconv_status status)
{
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%s", csrconv_last_error());
    if (outcome->culprit >= 0) {
        const struct csrconv_cudnn_plan *plan = &plans->plan[outcome->culprit];
        return csrconv_fail(CSRCONV_EXECUTION_FAILED,
                            "cuDNN's engine %" PRId64 " (%s %s, knobs: %s) faults: %s",
                            plan->engine, format->is_nhwc ? "NHWC" : "NCHW",
                            format->is_half ? "float16" : "float32",
                            plan->knobs[0] ? plan->knobs : "none", sentence);
    }
    if (outcome->failures == plans->count)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED, "none of %d plans of cuDNN runs: %s",
                            plans->count, sentence);
    return status;
}

/* Moves the fastest plan from the arena to the winner. */
static csrconv_status compete(struct arena *arena, struct csrconv_cudnn_winner *winner)
{
    struct csrconv_cuda_outcome outcome;
    const csrconv_status status =
        csrconv_cuda_contest(arena->plans.count, attempt, arena, &outcome);
    if (status)
        return explain(&arena->plans, &winner->format, &outcome, status);
    winner->plan = arena->plans.plan[outcome.best];
    winner->rivals = arena->plans.count;
    winner->us = outcome.us;
    memset(&arena->plans.plan[outcome.best], 0, sizeof *arena->plans.plan);
    return CSRCONV_OK;
}

static csrconv_status hold(const struct csrconv_problem *problem, const float *dense,
                           struct arena *arena, struct csrconv_cudnn_winner *winner,
                           cudaStream_t stream)
{
    csrconv_status status;
    if ((status = convert_weights(&problem->shape, dense, winner, stream)) ||
        (status = furnish(&problem->shape, &winner->format, arena, stream)) ||
        (status = csrconv_cuda_check(cudaStreamSynchronize(stream), "a contest")))
        return status;
    arena->weights = winner->weights;
    return compete(arena, winner);
}

csrconv_status csrconv_cudnn_contest(cudnnHandle_t handle, const struct csrconv_problem *problem,
                                     const struct csrconv_cudnn_math *math, const float *dense,
                                     bool is_nhwc, struct csrconv_cudnn_winner *winner)
{
    struct arena arena = { .handle = handle };
    cudaStream_t stream = NULL;
    csrconv_status status;
    memset(winner, 0, sizeof *winner);
    winner->format = (struct csrconv_cuda_format){ is_nhwc, math->is_half };
    if (!(status =
              csrconv_cudnn_graph_make(handle, &problem->shape, &winner->format, &winner->graph)) &&
        !(status = csrconv_cudnn_plans_find(&winner->graph, math, &arena.plans)) &&
        !(status = csrconv_cudnn_plans_build(handle, &arena.plans)) &&
        !(status = csrconv_cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                                      "a contest")))
        status = hold(problem, dense, &arena, winner, stream);
    csrconv_cuda_free(arena.in);
    csrconv_cuda_free(arena.out);
    csrconv_cuda_free(arena.workspace);
    csrconv_cudnn_plans_free(&arena.plans);
    if (stream)
        (void)cudaStreamDestroy(stream);
    return status;
}

void csrconv_cudnn_winner_free(struct csrconv_cudnn_winner *winner)
{
    csrconv_cudnn_plan_free(&winner->plan);
    csrconv_cudnn_graph_free(&winner->graph);
    csrconv_cuda_free(winner->weights);
    memset(winner, 0, sizeof *winner);
}
