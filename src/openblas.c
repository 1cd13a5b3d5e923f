/*
 * The peer of every lowering: im2col and SGEMM of OpenBLAS on all threads. A GEMM covers as many
 * output rows of an image as keep the lowered matrix within a cache-friendly size, and writes
 * straight into the NCHW output.
 */
#include "algorithm.h"
#include "cpu_model.h"
#include "dense.h"
#include "im2col.h"
#include "status.h"

#include <cblas.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* Lowered floats at a time: beyond a few MB the GEMM gains nothing and the copy leaves the caches.
 */
static const int64_t lowered_floats = 4 << 20;

struct openblas {
    float *dense; /* filters rows of shape->columns */
    int64_t rows; /* output rows in a GEMM */
};

static int64_t rows_at_once(const struct csrconv_shape *shape)
{
    const int64_t row = shape->columns * shape->out_w;
    const int64_t rows = csrconv_im2col_is_identity(shape) ? shape->out_h : lowered_floats / row;
    return rows < 1 ? 1 : rows < shape->out_h ? rows : shape->out_h;
}

static csrconv_status openblas_refuse(const struct csrconv_problem *problem)
{
    const struct csrconv_shape *shape = &problem->shape;
    if (shape->group_filters > INT_MAX || shape->out_plane > INT_MAX ||
        rows_at_once(shape) * shape->out_w > INT_MAX)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "%" PRId64 " filters of a group by %" PRId64
                            " outputs: OpenBLAS counts rows and columns in 32 bits",
                            shape->group_filters, shape->out_plane);
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

static csrconv_status openblas_prepare(const struct csrconv_problem *problem,
                                       struct csrconv_prepared *prepared)
{
    const struct csrconv_shape *shape = &problem->shape;
    struct openblas *openblas;
    csrconv_status status =
        csrconv_allocate(&prepared->memory, 1, sizeof *openblas, &prepared->state);
    if (status)
        return status;
    openblas = prepared->state;
    openblas->rows = rows_at_once(shape);
    status = csrconv_dense_weights(problem->weights, &prepared->memory, &openblas->dense);
    if (status)
        return status;
    if (!csrconv_im2col_is_identity(shape))
        prepared->workspace_bytes =
            (size_t)(shape->columns * openblas->rows * shape->out_w) * sizeof(float);
    snprintf(prepared->variant, sizeof prepared->variant, "sgemm");
    snprintf(prepared->detail, sizeof prepared->detail,
             "%s, SGEMM of %" PRId64 " x %" PRId64 " x %" PRId64 " a group on %d threads",
             prepared->workspace_bytes ? "im2col" : "the input as it is", shape->group_filters,
             openblas->rows * shape->out_w, shape->columns, problem->team.threads);
    return CSRCONV_OK;
}

/* The outputs [row * out_w, ...) of one group: out = dense * lowered. */
static void multiply(const struct openblas *openblas, const struct csrconv_shape *shape,
                     int64_t group, int64_t outputs, const float *lowered, float *out)
{
    const float *dense = openblas->dense + group * shape->group_filters * shape->columns;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)shape->group_filters, (int)outputs,
                (int)shape->columns, 1.0F, dense, (int)shape->columns, lowered, (int)outputs, 0.0F,
                out, (int)shape->out_plane);
}

static void run_group(const struct openblas *openblas, const struct csrconv_run *run, int64_t image,
                      int64_t group)
{
    const struct csrconv_shape *shape = run->shape;
    const float *planes =
        run->in + image * shape->g.in_batch_stride + group * shape->group_channels * shape->plane;
    float *out = run->out + image * shape->g.out_batch_stride +
                 group * shape->group_filters * shape->out_plane;
    for (int64_t row = 0; row < shape->out_h; row += openblas->rows) {
        const int64_t left = shape->out_h - row;
        const int64_t rows = left < openblas->rows ? left : openblas->rows;
        const float *lowered = planes;
        if (!csrconv_im2col_is_identity(shape)) {
            csrconv_im2col(shape, run->team, planes, row, rows, run->workspace);
            lowered = run->workspace;
        }
        multiply(openblas, shape, group, rows * shape->out_w, lowered, out + row * shape->out_w);
    }
}

static csrconv_status openblas_execute(const void *state, const struct csrconv_run *run)
{
    openblas_set_num_threads(run->team->threads);
    for (int64_t image = 0; image < run->n; image++) {
        for (int64_t group = 0; group < run->shape->g.groups; group++)
            run_group(state, run, image, group);
        csrconv_dense_epilogue(run, image);
    }
    return CSRCONV_OK;
}

static const char *openblas_version(void)
{
    return openblas_get_config();
}

static double openblas_estimate(const struct csrconv_problem *problem)
{
    return csrconv_cpu_dense_us(problem);
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
    .refuse = openblas_refuse,
    .estimate = openblas_estimate,
    .prepare = openblas_prepare,
    .execute = openblas_execute,
    .destroy = openblas_destroy,
};
