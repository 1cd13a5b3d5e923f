/*
 * Activations are reordered into the layouts that oneDNN likes best, outside of what is timed: a
 * network that runs on oneDNN keeps them there.
 */
#include "onednn_conv.h"

#include "dense.h"
#include "device.h"
#include "status.h"

#include <dnnl.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#if DNNL_VERSION_MAJOR != 2
#error "this peer is written for oneDNN 2"
#endif

enum { ALIGNMENT = 64 };

struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t convolution_desc;
    dnnl_primitive_t convolution, reorder_in, reorder_out;
    dnnl_memory_desc_t plain_in, plain_out;
    dnnl_memory_t weights;
    float *dense; /* OIHW, until it is reordered */
    float *packed;
    /* Parts of the workspace, in bytes from its start. */
    size_t staged_at, in_at, out_at, result_at, bytes;
};

static csrconv_status check(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return CSRCONV_OK;
    if (status == dnnl_unimplemented)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED, "oneDNN has no such convolution here");
    if (status == dnnl_out_of_memory)
        return csrconv_fail(CSRCONV_OUT_OF_MEMORY, "oneDNN: no memory for %s", what);
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "oneDNN: %s gave status %d", what, (int)status);
}

static csrconv_status plain_desc(dnnl_memory_desc_t *desc, const int64_t dims[4])
{
    dnnl_dims_t sizes = { dims[0], dims[1], dims[2], dims[3] };
    return check(dnnl_memory_desc_init_by_tag(desc, 4, sizes, dnnl_f32, dnnl_nchw),
                 "the layout of the activations");
}

static csrconv_status any_desc(dnnl_memory_desc_t *desc, int rank, const int64_t *dims)
{
    dnnl_dims_t sizes = { 0 };
    for (int i = 0; i < rank; i++)
        sizes[i] = dims[i];
    return check(dnnl_memory_desc_init_by_tag(desc, rank, sizes, dnnl_f32, dnnl_format_tag_any),
                 "a layout");
}

/* Weights are (G, M/G, C/G, R, S) with groups, else without the first. */
static void weight_dims(const struct csrconv_shape *shape, int64_t dims[5], int *rank)
{
    const int64_t all[5] = { shape->g.groups, shape->group_filters, shape->group_channels,
                             shape->g.kernel_h, shape->g.kernel_w };
    *rank = shape->g.groups > 1 ? 5 : 4;
    memcpy(dims, all + (5 - *rank), (size_t)*rank * sizeof *dims);
}

/* A primitive divides its work for as many threads as there are when it is made. */
static void set_threads(const struct csrconv_team *team)
{
#ifdef _OPENMP
    omp_set_num_threads(team->threads);
#else
    (void)team;
#endif
}

static csrconv_status describe(const struct csrconv_problem *problem, enum csrconv_onednn_kind kind,
                               struct onednn *o)
{
    const struct csrconv_shape *shape = &problem->shape;
    const csrconv_geometry *g = &shape->g;
    const int64_t in[4] = { g->batch, g->channels, g->height, g->width };
    const int64_t out[4] = { g->batch, g->filters, shape->out_h, shape->out_w };
    const dnnl_alg_kind_t algorithm =
        kind == CSRCONV_ONEDNN_WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_auto;
    dnnl_dims_t strides = { g->stride_h, g->stride_w };
    dnnl_dims_t dilation = { g->dilation_h - 1, g->dilation_w - 1 };
    dnnl_dims_t before = { g->pad_top, g->pad_left }, behind = { g->pad_bottom, g->pad_right };
    dnnl_memory_desc_t in_desc, out_desc, weights_desc;
    dnnl_convolution_desc_t desc;
    int64_t dims[5];
    int rank;
    csrconv_status status;
    set_threads(&problem->team);
    weight_dims(shape, dims, &rank);
    if ((status = plain_desc(&o->plain_in, in)) || (status = plain_desc(&o->plain_out, out)) ||
        (status = any_desc(&in_desc, 4, in)) || (status = any_desc(&out_desc, 4, out)) ||
        (status = any_desc(&weights_desc, rank, dims)) ||
        (status = check(dnnl_dilated_convolution_forward_desc_init(
                            &desc, dnnl_forward_inference, algorithm, &in_desc, &weights_desc, NULL,
                            &out_desc, strides, dilation, before, behind),
                        "the description")) ||
        (status = check(dnnl_engine_create(&o->engine, dnnl_cpu, 0), "the engine")))
        return status;
    return check(dnnl_primitive_desc_create(&o->convolution_desc, &desc, NULL, o->engine, NULL),
                 "the convolution");
}

static void release(struct onednn *o)
{
    dnnl_memory_destroy(o->weights);
    dnnl_primitive_destroy(o->reorder_out);
    dnnl_primitive_destroy(o->reorder_in);
    dnnl_primitive_destroy(o->convolution);
    dnnl_primitive_desc_destroy(o->convolution_desc);
    dnnl_stream_destroy(o->stream);
    dnnl_engine_destroy(o->engine);
}

static enum csrconv_onednn_kind kind_of(const struct csrconv_algorithm *self)
{
    const enum csrconv_onednn_kind *kind = self->traits;
    return *kind;
}

csrconv_status csrconv_onednn_estimate(const struct csrconv_algorithm *self,
                                       const struct csrconv_problem *problem,
                                       struct csrconv_estimate *estimate)
{
    struct onednn o = { 0 };
    const csrconv_status status = describe(problem, kind_of(self), &o);
    release(&o);
    estimate->us = csrconv_dense_us(problem);
    return status;
}

static const dnnl_memory_desc_t *inner(const struct onednn *o, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(o->convolution_desc, what, 0);
}

static csrconv_status make_reorder(const struct onednn *o, const dnnl_memory_desc_t *from,
                                   const dnnl_memory_desc_t *to, dnnl_primitive_t *reorder)
{
    dnnl_primitive_desc_t desc;
    csrconv_status status =
        check(dnnl_reorder_primitive_desc_create(&desc, from, o->engine, to, o->engine, NULL),
              "a reorder");
    if (status)
        return status;
    status = check(dnnl_primitive_create(reorder, desc), "a reorder");
    dnnl_primitive_desc_destroy(desc);
    return status;
}

static csrconv_status run_reorder(const struct onednn *o, dnnl_primitive_t reorder,
                                  dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_exec_arg_t arguments[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } };
    const csrconv_status status =
        check(dnnl_primitive_execute(reorder, o->stream, 2, arguments), "a reorder");
    return status ? status : check(dnnl_stream_wait(o->stream), "a reorder");
}

/* A reorder between two places in memory. */
static csrconv_status reorder_memory(const struct onednn *o, dnnl_primitive_t reorder,
                                     const dnnl_memory_desc_t *from_desc, void *from,
                                     const dnnl_memory_desc_t *to_desc, void *to)
{
    dnnl_memory_t source = NULL, target = NULL;
    csrconv_status status;
    if (!(status = check(dnnl_memory_create(&source, from_desc, o->engine, from), "a tensor")) &&
        !(status = check(dnnl_memory_create(&target, to_desc, o->engine, to), "a tensor")))
        status = run_reorder(o, reorder, source, target);
    dnnl_memory_destroy(source);
    dnnl_memory_destroy(target);
    return status;
}

static csrconv_status pack_weights(const struct csrconv_problem *problem,
                                   struct csrconv_prepared *prepared, struct onednn *o)
{
    const dnnl_memory_desc_t *to = inner(o, dnnl_query_weights_md);
    dnnl_memory_desc_t from;
    dnnl_primitive_t reorder = NULL;
    dnnl_dims_t sizes = { 0 };
    int64_t dims[5];
    int rank;
    csrconv_status status;
    weight_dims(&problem->shape, dims, &rank);
    memcpy(sizes, dims, (size_t)rank * sizeof *sizes);
    if ((status = csrconv_dense_weights(problem->weights, &prepared->memory, &o->dense)) ||
        (status = csrconv_allocate(&prepared->memory, (int64_t)dnnl_memory_desc_get_size(to), 1,
                                   (void **)&o->packed)) ||
        (status = check(dnnl_memory_desc_init_by_tag(&from, rank, sizes, dnnl_f32,
                                                     rank == 5 ? dnnl_goihw : dnnl_oihw),
                        "the layout of the weights")) ||
        (status = make_reorder(o, &from, to, &reorder)))
        return status;
    status = reorder_memory(o, reorder, &from, o->dense, to, o->packed);
    dnnl_primitive_destroy(reorder);
    if (!status)
        status = check(dnnl_memory_create(&o->weights, to, o->engine, o->packed), "the weights");
    return status;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void place_workspace(struct onednn *o)
{
    o->staged_at = 0;
    o->in_at = o->staged_at + aligned(dnnl_memory_desc_get_size(&o->plain_in));
    o->out_at = o->in_at + aligned(dnnl_memory_desc_get_size(inner(o, dnnl_query_src_md)));
    o->result_at = o->out_at + aligned(dnnl_memory_desc_get_size(inner(o, dnnl_query_dst_md)));
    o->bytes = o->result_at + aligned(dnnl_memory_desc_get_size(&o->plain_out));
}

csrconv_status csrconv_onednn_prepare(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared)
{
    const char *name = "";
    struct onednn *o;
    csrconv_status status = csrconv_allocate(&prepared->memory, 1, sizeof *o, &prepared->state);
    if (status)
        return status;
    o = prepared->state;
    memset(o, 0, sizeof *o);
    if ((status = describe(problem, kind_of(self), o)) ||
        (status = check(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags),
                        "the stream")) ||
        (status = check(dnnl_primitive_create(&o->convolution, o->convolution_desc),
                        "the convolution")) ||
        (status = make_reorder(o, &o->plain_in, inner(o, dnnl_query_src_md), &o->reorder_in)) ||
        (status = make_reorder(o, inner(o, dnnl_query_dst_md), &o->plain_out, &o->reorder_out)) ||
        (status = pack_weights(problem, prepared, o)))
        return status;
    place_workspace(o);
    prepared->workspace_bytes = o->bytes;
    prepared->is_mixing = kind_of(self) == CSRCONV_ONEDNN_WINOGRAD;
    dnnl_primitive_desc_query(o->convolution_desc, dnnl_query_impl_info_str, 0, (void *)&name);
    snprintf(prepared->variant, sizeof prepared->variant, "%s", name);
    snprintf(prepared->detail, sizeof prepared->detail,
             "%s; reorders from and to NCHW are not in the time", name);
    return CSRCONV_OK;
}

void csrconv_onednn_destroy(const struct csrconv_memory *memory, void *state)
{
    struct onednn *o = state;
    if (!o)
        return;
    release(o);
    csrconv_release(memory, o->packed);
    csrconv_release(memory, o->dense);
    csrconv_release(memory, o);
}

static char *part(const struct csrconv_run *run, size_t at)
{
    return (char *)run->workspace + at;
}

/* The images densely, those that are not run as zeros, and then in oneDNN's layout. */
csrconv_status csrconv_onednn_lay_out(const void *state, const struct csrconv_run *run)
{
    const struct onednn *o = state;
    const struct csrconv_shape *shape = run->shape;
    float *staged = (float *)(void *)part(run, o->staged_at);
    const size_t image = (size_t)shape->in_image * sizeof(float);
    set_threads(run->team);
    for (int64_t n = 0; n < shape->g.batch; n++) {
        if (n < run->n)
            memcpy(staged + n * shape->in_image, run->in + n * shape->g.in_batch_stride, image);
        else
            memset(staged + n * shape->in_image, 0, image);
    }
    return reorder_memory(o, o->reorder_in, &o->plain_in, staged, inner(o, dnnl_query_src_md),
                          part(run, o->in_at));
}

csrconv_status csrconv_onednn_compute(const void *state, const struct csrconv_run *run)
{
    const struct onednn *o = state;
    dnnl_memory_t in = NULL, out = NULL;
    csrconv_status status;
    set_threads(run->team);
    if (!(status = check(
              dnnl_memory_create(&in, inner(o, dnnl_query_src_md), o->engine, part(run, o->in_at)),
              "the input")) &&
        !(status = check(dnnl_memory_create(&out, inner(o, dnnl_query_dst_md), o->engine,
                                            part(run, o->out_at)),
                         "the output"))) {
        const dnnl_exec_arg_t arguments[] = { { DNNL_ARG_SRC, in },
                                              { DNNL_ARG_WEIGHTS, o->weights },
                                              { DNNL_ARG_DST, out } };
        status = check(dnnl_primitive_execute(o->convolution, o->stream, 3, arguments), "execute");
        if (!status)
            status = check(dnnl_stream_wait(o->stream), "execute");
    }
    dnnl_memory_destroy(in);
    dnnl_memory_destroy(out);
    return status;
}

csrconv_status csrconv_onednn_execute(const void *state, const struct csrconv_run *run)
{
    const struct onednn *o = state;
    const struct csrconv_shape *shape = run->shape;
    const float *result = (const float *)(void *)part(run, o->result_at);
    csrconv_status status;
    if ((status = csrconv_onednn_lay_out(state, run)) ||
        (status = csrconv_onednn_compute(state, run)) ||
        (status = reorder_memory(o, o->reorder_out, inner(o, dnnl_query_dst_md),
                                 part(run, o->out_at), &o->plain_out, part(run, o->result_at))))
        return status;
    for (int64_t n = 0; n < run->n; n++) {
        memcpy(run->out + n * shape->g.out_batch_stride, result + n * shape->out_image,
               (size_t)shape->out_image * sizeof(float));
        csrconv_dense_epilogue(run, n);
    }
    return CSRCONV_OK;
}

const char *csrconv_onednn_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    if (!text[0])
        snprintf(text, sizeof text, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    return text;
}
