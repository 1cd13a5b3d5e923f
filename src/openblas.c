/*
 * The peer of every lowering: im2col and SGEMM of OpenBLAS on all threads. Each thread lowers some
 * output rows of an image into a buffer of its own and multiplies them by itself, straight into the
 * NCHW output: OpenBLAS's own threads, beside those that lower, would wait for cores that the
 * others hold while they spin.
 */
#include "algorithm.h"
#include "dense.h"
#include "device.h"
#include "im2col.h"
#include "status.h"

#include <cblas.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Lowered floats at a time: beyond a few MB the GEMM gains nothing and the copy leaves the caches.
 */
static const int64_t lowered_floats = 4 << 20;

struct openblas {
    float *dense; /* filters rows of shape->columns */
    int64_t rows; /* output rows in a GEMM */
};

/* Few enough for the buffer, and for every thread to have some. */
static int64_t rows_at_once(const struct csrconv_problem *problem)
{
    const struct csrconv_shape *shape = &problem->shape;
    const int64_t row = shape->columns * shape->out_w;
    const int64_t fit = csrconv_im2col_is_identity(shape) ? shape->out_h : lowered_floats / row;
    const int64_t parts = (problem->team.threads - 1) / (shape->g.batch * shape->g.groups) + 1;
    const int64_t share = (shape->out_h - 1) / parts + 1;
    const int64_t rows = fit < share ? fit : share;
    return rows < 1 ? 1 : rows;
}

static csrconv_status openblas_estimate(const struct csrconv_algorithm *self,
                                        const struct csrconv_problem *problem,
                                        struct csrconv_estimate *estimate)
{
    const struct csrconv_shape *shape = &problem->shape;
    (void)self;
    if (shape->group_filters > INT_MAX || shape->out_plane > INT_MAX || shape->plane > INT_MAX ||
        rows_at_once(problem) * shape->out_w > INT_MAX)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "%" PRId64 " filters of a group by %" PRId64
                            " outputs: OpenBLAS counts rows and columns in 32 bits",
                            shape->group_filters, shape->out_plane);
    estimate->us = csrconv_dense_us(problem);
    return CSRCONV_OK;
}

static void openblas_destroy(const struct csrconv_memory *memory, void *state)
{
    struct openblas *openblas = state;
    if (!openblas)
        return;
    csrconv_release(memory, openblas->dense);
    csrconv_release(memory, openblas);
}

/* Floats from the buffer of a thread to that of the next. */
static int64_t lowered_stride(const struct openblas *openblas, const struct csrconv_shape *shape)
{
    return shape->columns * openblas->rows * shape->out_w;
}

static csrconv_status openblas_prepare(const struct csrconv_algorithm *self,
                                       const struct csrconv_problem *problem,
                                       struct csrconv_prepared *prepared)
{
    const struct csrconv_shape *shape = &problem->shape;
    struct openblas *openblas;
    csrconv_status status =
        csrconv_allocate(&prepared->memory, 1, sizeof *openblas, &prepared->state);
    (void)self;
    if (status)
        return status;
    openblas = prepared->state;
    openblas->rows = rows_at_once(problem);
    status = csrconv_dense_weights(problem->weights, &prepared->memory, &openblas->dense);
    if (status)
        return status;
    if (!csrconv_im2col_is_identity(shape))
        prepared->workspace_bytes =
            (size_t)(problem->team.threads * lowered_stride(openblas, shape)) * sizeof(float);
    snprintf(prepared->variant, sizeof prepared->variant, "sgemm");
    snprintf(prepared->detail, sizeof prepared->detail,
             "%s, SGEMM of %" PRId64 " x %" PRId64 " x %" PRId64 " a group on %d threads",
             prepared->workspace_bytes ? "im2col" : "the input as it is", shape->group_filters,
             openblas->rows * shape->out_w, shape->columns, problem->team.threads);
    return CSRCONV_OK;
}

struct job {
    const struct openblas *openblas;
    const struct csrconv_run *run;
};

/* Output rows [row, row + rows) of one group of one image. */
static void run_rows(const struct job *job, int64_t image, int64_t group, int64_t row,
                     float *lowered)
{
    const struct csrconv_shape *shape = job->run->shape;
    const int64_t left = shape->out_h - row;
    const int64_t rows = left < job->openblas->rows ? left : job->openblas->rows;
    const int64_t outputs = rows * shape->out_w, filters = group * shape->group_filters;
    const float *planes = job->run->in + image * shape->g.in_batch_stride +
                          group * shape->group_channels * shape->plane;
    const bool is_identity = csrconv_im2col_is_identity(shape);
    float *out = job->run->out + image * shape->g.out_batch_stride + filters * shape->out_plane;
    if (!is_identity)
        csrconv_im2col(shape, planes, row, rows, lowered);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)shape->group_filters, (int)outputs,
                (int)shape->columns, 1.0F, job->openblas->dense + filters * shape->columns,
                (int)shape->columns, is_identity ? planes + row * shape->g.width : lowered,
                (int)(is_identity ? shape->plane : outputs), 0.0F, out + row * shape->out_w,
                (int)shape->out_plane);
}

/* Items are the threads: each takes a share of the parts that images and groups are cut into. */
static void run_shares(void *argument, int64_t begin, int64_t end)
{
    const struct job *job = argument;
    const struct csrconv_shape *shape = job->run->shape;
    const int64_t rows = job->openblas->rows, parts = (shape->out_h - 1) / rows + 1;
    const int64_t groups = shape->g.groups, all = job->run->n * groups * parts;
    const int64_t threads = job->run->team->threads;
    for (int64_t thread = begin; thread < end; thread++) {
        float *lowered = job->run->workspace;
        if (lowered)
            lowered += thread * lowered_stride(job->openblas, shape);
        for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++)
            run_rows(job, i / parts / groups, i / parts % groups, i % parts * rows, lowered);
    }
}

static csrconv_status openblas_execute(const void *state, const struct csrconv_run *run)
{
    struct job job = { state, run };
    openblas_set_num_threads(1);
    csrconv_team_run(run->team, run->team->threads, run_shares, &job);
    for (int64_t image = 0; image < run->n; image++)
        csrconv_dense_epilogue(run, image);
    return CSRCONV_OK;
}

static const char *openblas_version(void)
{
    return openblas_get_config();
}

const struct csrconv_algorithm csrconv_algorithm_openblas = {
    .info = { .name = "openblas",
              .summary = "im2col and SGEMM of OpenBLAS",
              .device = CSRCONV_DEVICE_CPU,
              .is_peer = 1,
              .is_dense = 1,
              .math = "fp32",
              .layout = "nchw",
              .limits = "OpenBLAS allocates, locks and starts threads inside, and their number is "
                        "global to the process; a pruned weight times NaN or infinity is NaN" },
    .version = openblas_version,
    .estimate = openblas_estimate,
    .prepare = openblas_prepare,
    .execute = openblas_execute,
    .destroy = openblas_destroy,
};
