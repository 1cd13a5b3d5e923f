#include "lowered_conv.h"

#include "contest.h"
#include "cuda_im2col.h"
#include "cuda_product.h"
#include "peer_epilogue.h"

#include <inttypes.h>
#include <stdio.h>

static float *part(const struct csrconv_run *run, size_t at)
{
    return (float *)(void *)((char *)run->workspace + at);
}

/* The lowering, the multiplication, or all that a chunk needs. */
typedef csrconv_status (*chunk_step)(const struct csrconv_lowered_conv *conv,
                                     const struct csrconv_run *run);

static csrconv_status lower(const struct csrconv_lowered_conv *conv, const struct csrconv_run *run)
{
    const struct csrconv_lowering *l = &conv->way.lowering;
    if (l->is_in_place)
        return CSRCONV_OK;
    return csrconv_cuda_im2col(run->shape, l, run->n, run->in, part(run, 0), run->stream);
}

static csrconv_status multiply(const struct csrconv_lowered_conv *conv,
                               const struct csrconv_run *run)
{
    const struct csrconv_lowering *l = &conv->way.lowering;
    const bool is_wide = csrconv_lowering_is_wide(l);
    const int64_t pixels = run->shape->out_plane;
    const struct csrconv_multiplication m = {
        .lowered = l->is_in_place ? run->in : part(run, 0),
        .from = l->lowered,
        .product = is_wide ? part(run, csrconv_lowering_product_at(l)) : run->out,
        .to = l->product,
        .images = is_wide ? 1 : run->n,
        .pixels = is_wide ? run->n * pixels : pixels,
        .kernel = conv->way.kernel,
        .scratch = part(run, csrconv_lowering_bytes(l)),
        .stream = run->stream,
    };
    return conv->multiply(conv->peer, run->shape, &m);
}

static csrconv_status run_chunk(const struct csrconv_lowered_conv *conv,
                                const struct csrconv_run *run)
{
    const struct csrconv_lowering *l = &conv->way.lowering;
    csrconv_status status;
    if ((status = lower(conv, run)) || (status = multiply(conv, run)))
        return status;
    if (csrconv_lowering_is_wide(l))
        return csrconv_cuda_store_product(run, l, conv->bias,
                                          part(run, csrconv_lowering_product_at(l)));
    return csrconv_cuda_peer_epilogue(run, conv->bias);
}

/* The images of a run from `first` on that go together. */
static struct csrconv_run chunk_of(const struct csrconv_lowering *l, const struct csrconv_run *run,
                                   int64_t first)
{
    const csrconv_geometry *g = &run->shape->g;
    struct csrconv_run chunk = *run;
    chunk.n = run->n - first < l->images ? run->n - first : l->images;
    chunk.in = run->in + first * g->in_batch_stride;
    chunk.out = run->out + first * g->out_batch_stride;
    chunk.residual = run->residual ? run->residual + first * g->out_batch_stride : NULL;
    return chunk;
}

static csrconv_status each_chunk(const struct csrconv_lowered_conv *conv,
                                 const struct csrconv_run *run, chunk_step step)
{
    const struct csrconv_lowering *l = &conv->way.lowering;
    for (int64_t first = 0; first < run->n; first += l->images) {
        const struct csrconv_run chunk = chunk_of(l, run, first);
        const csrconv_status status = step(conv, &chunk);
        if (status)
            return status;
    }
    return CSRCONV_OK;
}

csrconv_status csrconv_lowered_execute(const void *state, const struct csrconv_run *run)
{
    const struct csrconv_lowered_conv *conv = state;
    return each_chunk(conv, run, run_chunk);
}

csrconv_status csrconv_lowered_lay_out(const void *state, const struct csrconv_run *run)
{
    const struct csrconv_lowered_conv *conv = state;
    return csrconv_lowering_is_whole(&conv->way.lowering, run->shape) ? lower(conv, run)
                                                                      : CSRCONV_OK;
}

/* A contest under way: made-up tensors, and the way that ran last. */
struct contest {
    struct csrconv_lowered_conv *conv;
    const struct csrconv_lowered_way *ways;
    int current; /* of the ways; -1: none yet */
    chunk_step step;
    struct csrconv_run run;
    float *in, *residual, *out;
    void *workspace;
};

static csrconv_status attempt(void *context, int candidate, cudaStream_t stream)
{
    struct contest *c = context;
    if (candidate != c->current && c->conv->forget)
        c->conv->forget(c->conv->peer);
    c->current = candidate;
    c->conv->way = c->ways[candidate];
    c->run.stream = stream;
    return each_chunk(c->conv, &c->run, c->step);
}

static csrconv_status make_tensor(struct csrconv_memory *memory, int64_t floats, float **tensor)
{
    csrconv_status status = csrconv_cuda_allocate(memory, floats, sizeof **tensor, (void **)tensor);
    if (!status)
        status = csrconv_cuda_fill(*tensor, floats, cudaStreamPerThread);
    return status;
}

static size_t workspace_bytes(const struct csrconv_lowered_conv *conv,
                              const struct csrconv_lowered_way *way)
{
    return csrconv_lowering_bytes(&way->lowering) + conv->scratch_bytes;
}

/* The largest workspace of the ways. */
static csrconv_status make_workspace(struct contest *c, int count, struct csrconv_memory *memory)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        const size_t needed = workspace_bytes(c->conv, &c->ways[i]);
        if (needed > bytes)
            bytes = needed;
    }
    return csrconv_cuda_allocate(memory, (int64_t)bytes, 1, &c->workspace);
}

static csrconv_status make_tensors(struct contest *c, const struct csrconv_problem *problem,
                                   struct csrconv_memory *memory)
{
    const struct csrconv_shape *shape = &problem->shape;
    const int64_t last = c->run.n - 1;
    const int64_t in = last * shape->g.in_batch_stride + shape->in_image;
    const int64_t out = last * shape->g.out_batch_stride + shape->out_image;
    csrconv_status status;
    if ((status = make_tensor(memory, in, &c->in)) || (status = make_tensor(memory, out, &c->out)))
        return status;
    if (problem->epilogue.residual && (status = make_tensor(memory, out, &c->residual)))
        return status;
    c->run.in = c->in;
    c->run.out = c->out;
    c->run.residual = c->residual;
    c->run.workspace = c->workspace;
    return csrconv_cuda_check(cudaStreamSynchronize(cudaStreamPerThread), "made-up tensors");
}

static void free_contest(struct contest *c)
{
    csrconv_cuda_free(c->in);
    csrconv_cuda_free(c->residual);
    csrconv_cuda_free(c->out);
    csrconv_cuda_free(c->workspace);
}

static csrconv_status time_step(struct contest *c, chunk_step step, double *us)
{
    struct csrconv_cuda_outcome outcome;
    csrconv_status status;
    c->step = step;
    status = csrconv_cuda_contest(1, attempt, c, &outcome);
    *us = outcome.us;
    return status;
}

static csrconv_status hold_contest(struct contest *c, struct csrconv_lowered_way *ways, int count,
                                   struct csrconv_lowered_times *times)
{
    struct csrconv_cuda_outcome outcome = { .best = 0 };
    csrconv_status status;
    c->step = run_chunk;
    if (count > 1 && (status = csrconv_cuda_contest(count, attempt, c, &outcome)))
        return status;
    ways[0] = ways[outcome.best];
    c->current = -1;
    times->images = c->run.n;
    times->lowering_us = 0.0;
    if ((status = time_step(c, run_chunk, &times->all_us)))
        return status;
    if (!ways[0].lowering.is_in_place && (status = time_step(c, lower, &times->lowering_us)))
        return status;
    return time_step(c, multiply, &times->product_us);
}

csrconv_status csrconv_lowered_choose(struct csrconv_lowered_conv *conv,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_lowered_way *ways, int count, int64_t images,
                                      struct csrconv_lowered_times *times)
{
    struct csrconv_memory passing = { 0 }; /* freed again, so not the plan's */
    struct contest c = { .conv = conv, .ways = ways, .current = -1 };
    csrconv_status status;
    c.run.shape = &problem->shape;
    c.run.epilogue = &problem->epilogue;
    c.run.n = images < problem->shape.g.batch ? images : problem->shape.g.batch;
    if (!(status = make_workspace(&c, count, &passing)) &&
        !(status = make_tensors(&c, problem, &passing)))
        status = hold_contest(&c, ways, count, times);
    free_contest(&c);
    return status;
}

static void describe_lowering(const struct csrconv_lowering *l,
                              const struct csrconv_lowered_times *times, char *text, size_t bytes)
{
    if (l->is_in_place)
        snprintf(text, bytes, "no im2col");
    else
        snprintf(text, bytes, "im2col %.1f us (%.0f %%)", times->lowering_us,
                 100.0 * times->lowering_us / times->all_us);
}

void csrconv_lowered_describe(const struct csrconv_lowered_conv *conv,
                              const struct csrconv_shape *shape,
                              const struct csrconv_lowered_times *times, const char *kernel,
                              struct csrconv_prepared *prepared)
{
    const struct csrconv_lowering *l = &conv->way.lowering;
    const char *name = csrconv_lowering_name(l);
    char lowering[64];
    describe_lowering(l, times, lowering, sizeof lowering);
    prepared->workspace_bytes = workspace_bytes(conv, &conv->way);
    prepared->is_in_place = !csrconv_lowering_is_whole(l, shape);
    snprintf(prepared->variant, sizeof prepared->variant, "%s %s n=%" PRId64, kernel, name,
             l->images);
    snprintf(prepared->detail, sizeof prepared->detail,
             "%s, %s, %" PRId64 " images at a time; when planned, %" PRId64
             " images took %.1f us: %s, products alone %.1f us",
             kernel, name, l->images, times->images, times->all_us, lowering, times->product_us);
}
