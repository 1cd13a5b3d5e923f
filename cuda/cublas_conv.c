/*
 * cuBLAS counts matrices by columns, so an NCHW product, filters by pixels, is its transpose:
 * pixels by filters. The lowered matrix is the first factor, the weights are the second.
 */
#include "cublas_conv.h"

#include "dense.h"
#include "device.h"
#include "lowered_conv.h"

#include <cublas_v2.h>

#include <stdio.h>
#include <string.h>

enum {
    ROW_FLOATS = 8,    /* rows of weights begin at sectors of 32 bytes */
    MOST_BATCH = 65535 /* matrices in a call, one in each z of a grid */
};

/* What NVIDIA recommends for Hopper; a workspace of its own allocates nothing under capture. */
static const size_t scratch_bytes = (size_t)32 << 20;

/* Of the image-by-image peer: enough to time it. */
static const int64_t timed_images = 16;

struct cublas {
    struct csrconv_lowered_conv conv;
    cublasHandle_t handle;
    cublasComputeType_t compute;
    float *weights; /* filters rows of weights_row floats */
    int64_t weights_row;
};

static csrconv_status check(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return CSRCONV_OK;
    (void)cudaGetLastError();
    return csrconv_fail(status == CUBLAS_STATUS_ALLOC_FAILED ? CSRCONV_OUT_OF_MEMORY
                                                             : CSRCONV_EXECUTION_FAILED,
                        "cuBLAS: %s: %s", what, cublasGetStatusString(status));
}

/* Matrices in a row: how many, and the floats from one to the next. */
struct batch {
    int64_t count, lowered, weights, product;
};

struct factors {
    const float *lowered, *weights;
    float *product;
};

static csrconv_status gemm(const struct cublas *c, const struct csrconv_shape *shape,
                           const struct csrconv_multiplication *m, const struct factors *f,
                           const struct batch *batch, int64_t count)
{
    const float one = 1.0F, zero = 0.0F;
    const bool by_row = m->from.pixel == 1;
    const cublasOperation_t turn = by_row ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int64_t lowered_step = by_row ? m->from.row : m->from.pixel;
    if (count == 1)
        return check(cublasGemmEx_64(c->handle, turn, CUBLAS_OP_N, m->pixels, shape->group_filters,
                                     shape->columns, &one, f->lowered, CUDA_R_32F, lowered_step,
                                     f->weights, CUDA_R_32F, c->weights_row, &zero, f->product,
                                     CUDA_R_32F, m->to.row, c->compute, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx");
    return check(cublasGemmStridedBatchedEx_64(
                     c->handle, turn, CUBLAS_OP_N, m->pixels, shape->group_filters, shape->columns,
                     &one, f->lowered, CUDA_R_32F, lowered_step, batch->lowered, f->weights,
                     CUDA_R_32F, c->weights_row, batch->weights, &zero, f->product, CUDA_R_32F,
                     m->to.row, batch->product, count, c->compute, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
}

/* The matrices of `batch` that follow the place `at` of the other batch. */
static csrconv_status gemm_batch(const struct cublas *c, const struct csrconv_shape *shape,
                                 const struct csrconv_multiplication *m, const struct batch *other,
                                 int64_t at, const struct batch *batch)
{
    for (int64_t i = 0; i < batch->count; i += MOST_BATCH) {
        const int64_t count = batch->count - i < MOST_BATCH ? batch->count - i : MOST_BATCH;
        const struct factors f = {
            m->lowered + at * other->lowered + i * batch->lowered,
            c->weights + at * other->weights + i * batch->weights,
            m->product + at * other->product + i * batch->product,
        };
        const csrconv_status status = gemm(c, shape, m, &f, batch, count);
        if (status)
            return status;
    }
    return CSRCONV_OK;
}

static csrconv_status bind(const struct cublas *c, const struct csrconv_multiplication *m)
{
    const csrconv_status status = check(cublasSetStream(c->handle, m->stream), "the stream");
    return status
               ? status
               : check(cublasSetWorkspace(c->handle, m->scratch, scratch_bytes), "the workspace");
}

/* In one call as many matrices as there are images or groups, whatever there are more of. */
static csrconv_status multiply(void *peer, const struct csrconv_shape *shape,
                               const struct csrconv_multiplication *m)
{
    const struct cublas *c = peer;
    const struct batch images = { m->images, m->from.image, 0, m->to.image };
    const struct batch groups = { shape->g.groups, shape->columns * m->from.row,
                                  shape->group_filters * c->weights_row,
                                  shape->group_filters * m->to.row };
    const bool by_image = images.count >= groups.count;
    const struct batch *inner = by_image ? &images : &groups;
    const struct batch *outer = by_image ? &groups : &images;
    csrconv_status status = bind(c, m);
    for (int64_t i = 0; i < outer->count && !status; i++)
        status = gemm_batch(c, shape, m, outer, i, inner);
    return status;
}

/* The weights with their zeros, on the device, rows apart by weights_row. */
static csrconv_status upload_weights(const struct csrconv_weights *weights,
                                     struct csrconv_memory *memory, struct cublas *c)
{
    const int64_t columns = weights->columns;
    struct csrconv_memory passing = { .allocator = memory->allocator }; /* not the plan's */
    float *dense = NULL, *rows = NULL;
    csrconv_status status;
    c->weights_row = (columns + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
    if (!(status = csrconv_dense_weights(weights, &passing, &dense)) &&
        !(status = csrconv_allocate(&passing, weights->filters,
                                    (size_t)c->weights_row * sizeof *rows, (void **)&rows))) {
        memset(rows, 0, (size_t)(weights->filters * c->weights_row) * sizeof *rows);
        for (int64_t m = 0; m < weights->filters; m++)
            memcpy(rows + m * c->weights_row, dense + m * columns, (size_t)columns * sizeof *rows);
        status = csrconv_cuda_upload(memory, rows, weights->filters * c->weights_row,
                                     sizeof *c->weights, (void **)&c->weights);
    }
    csrconv_release(memory, rows);
    csrconv_release(memory, dense);
    return status;
}

static csrconv_status make_handle(const struct csrconv_cublas_traits *traits, struct cublas *c)
{
    const csrconv_status status = check(cublasCreate(&c->handle), "a handle");
    c->compute = traits->is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    return status ? status
                  : check(cublasSetMathMode(c->handle, CUBLAS_DEFAULT_MATH), "the math mode");
}

static const enum csrconv_lowering_way tried[] = {
    CSRCONV_LOWER_IMAGES,
    CSRCONV_LOWER_WIDE,
    CSRCONV_LOWER_PIXELS,
    CSRCONV_LOWER_PIXELS_WIDE,
};
enum { TRIED = sizeof tried / sizeof *tried, MOST_WAYS = TRIED * CSRCONV_LOWERING_CHUNKS };

/* The ways of the batched peers, or the one of the image-by-image peer. */
static csrconv_status list_ways(const struct csrconv_cublas_traits *traits,
                                const struct csrconv_shape *shape, struct csrconv_lowered_way *ways,
                                int *count)
{
    struct csrconv_lowering found[MOST_WAYS];
    struct csrconv_cuda_device device;
    const csrconv_status status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    *count = 1;
    if (traits->is_image_by_image)
        csrconv_lowering_init(shape, CSRCONV_LOWER_IMAGES, 1, &found[0]);
    else
        *count = csrconv_lowering_candidates(shape, tried, TRIED, device.l2_bytes / 2, found);
    for (int i = 0; i < *count; i++)
        ways[i] = (struct csrconv_lowered_way){ found[i], 0 };
    return CSRCONV_OK;
}

static csrconv_status make_state(const struct csrconv_problem *problem,
                                 struct csrconv_prepared *prepared, struct cublas **out)
{
    struct cublas *c;
    csrconv_status status = csrconv_allocate(&prepared->memory, 1, sizeof *c, &prepared->state);
    if (status)
        return status;
    *out = c = prepared->state;
    *c = (struct cublas){ .conv = {
                              .scratch_bytes = scratch_bytes, .peer = c, .multiply = multiply } };
    status = upload_weights(problem->weights, &prepared->memory, c);
    return status ? status : csrconv_cuda_upload_bias(problem, &prepared->memory, &c->conv.bias);
}

csrconv_status csrconv_cublas_estimate(const struct csrconv_algorithm *self,
                                       const struct csrconv_problem *problem,
                                       struct csrconv_estimate *estimate)
{
    (void)self;
    estimate->us = csrconv_dense_us(problem);
    return csrconv_lowering_refuse(&problem->shape);
}

csrconv_status csrconv_cublas_prepare(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared)
{
    const struct csrconv_cublas_traits *traits = self->traits;
    const int64_t images = traits->is_image_by_image ? timed_images : problem->shape.g.batch;
    struct csrconv_lowered_way ways[MOST_WAYS];
    struct csrconv_lowered_times times;
    struct cublas *c = NULL;
    int count = 0;
    csrconv_status status;
    if ((status = make_state(problem, prepared, &c)) || (status = make_handle(traits, c)) ||
        (status = list_ways(traits, &problem->shape, ways, &count)) ||
        (status = csrconv_lowered_choose(&c->conv, problem, ways, count, images, &times)))
        return status;
    csrconv_lowered_describe(&c->conv, &problem->shape, &times,
                             traits->is_tf32 ? "gemm tf32" : "sgemm", prepared);
    return CSRCONV_OK;
}

void csrconv_cublas_destroy(const struct csrconv_memory *memory, void *state)
{
    struct cublas *c = state;
    if (!c)
        return;
    if (c->handle)
        (void)cublasDestroy(c->handle);
    csrconv_cuda_free(c->weights);
    csrconv_cuda_free(c->conv.bias);
    csrconv_release(memory, c);
}

const char *csrconv_cublas_version(void)
{
    static char text[32];
    int major = 0, minor = 0, patch = 0;
    if (text[0])
        return text;
    (void)cublasGetProperty(MAJOR_VERSION, &major);
    (void)cublasGetProperty(MINOR_VERSION, &minor);
    (void)cublasGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuBLAS %d.%d.%d", major, minor, patch);
    return text;
}
