/* Weights by lowered matrix, CSR by dense: rows of the product are filters. */
#include "cusparse_conv.h"

#include "cuda_model.h"
#include "cusparse_spmm.h"

#include <inttypes.h>
#include <stdio.h>

/* Rows and columns count in 32 bits; the last numbers below 2^31 fail inside cuSPARSE. */
static const int64_t most_nonzeros = INT32_MAX - 128;

/* Of the image-by-image peer: enough to time it. */
static const int64_t timed_images = 16;

/* All algorithms for CSR; ALG1 likes column-major matrices, ALG2 row-major ones. */
static const struct {
    cusparseSpMMAlg_t algorithm;
    const char *name;
} algorithms[] = {
    { CUSPARSE_SPMM_ALG_DEFAULT, "spmm default" },
    { CUSPARSE_SPMM_CSR_ALG1, "spmm alg1" },
    { CUSPARSE_SPMM_CSR_ALG2, "spmm alg2" },
    { CUSPARSE_SPMM_CSR_ALG3, "spmm alg3" },
};

static const enum csrconv_lowering_way tried[] = {
    CSRCONV_LOWER_IMAGES,
    CSRCONV_LOWER_WIDE,
    CSRCONV_LOWER_PIXELS_NHWC,
};

enum {
    ALGORITHMS = sizeof algorithms / sizeof *algorithms,
    TRIED = sizeof tried / sizeof *tried,
    MOST_LOWERINGS = TRIED * CSRCONV_LOWERING_CHUNKS,
    MOST_WAYS = MOST_LOWERINGS * ALGORITHMS
};

struct cusparse {
    struct csrconv_lowered_conv conv;
    struct csrconv_spmm spmm;
};

static csrconv_status refuse(const struct csrconv_problem *problem)
{
    const int64_t nonzeros = csrconv_nonzeros(problem->weights);
    if (nonzeros <= most_nonzeros)
        return csrconv_lowering_refuse(&problem->shape);
    return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                        "%" PRId64 " nonzeros: cuSPARSE fails beyond %" PRId64, nonzeros,
                        most_nonzeros);
}

/* A quarter of the rate of loads was seen at 90 % sparsity. */
csrconv_status csrconv_cusparse_estimate(const struct csrconv_algorithm *self,
                                         const struct csrconv_problem *problem,
                                         struct csrconv_estimate *estimate)
{
    const double least_us = 10.0, share = 0.25;
    (void)self;
    estimate->us = least_us + csrconv_cuda_load_floor_us(problem) / share +
                   csrconv_cuda_lowering_us(&problem->shape);
    return refuse(problem);
}

/* ALG3 is not made for several matrices in a call. */
static bool is_possible(const struct csrconv_lowering *lowering, cusparseSpMMAlg_t algorithm)
{
    return algorithm != CUSPARSE_SPMM_CSR_ALG3 || csrconv_lowering_is_wide(lowering) ||
           lowering->images == 1;
}

/* Each lowering with each algorithm. */
static csrconv_status list_ways(const struct csrconv_cusparse_traits *traits,
                                const struct csrconv_shape *shape, struct csrconv_lowered_way *ways,
                                int *count)
{
    struct csrconv_lowering found[MOST_LOWERINGS];
    struct csrconv_cuda_device device;
    int lowerings = 1;
    const csrconv_status status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    if (traits->is_image_by_image)
        csrconv_lowering_init(shape, CSRCONV_LOWER_IMAGES, 1, &found[0]);
    else
        lowerings = csrconv_lowering_candidates(shape, tried, TRIED, device.l2_bytes / 2, found);
    *count = 0;
    for (int i = 0; i < lowerings; i++)
        for (int a = 0; a < ALGORITHMS; a++)
            if (is_possible(&found[i], algorithms[a].algorithm))
                ways[(*count)++] =
                    (struct csrconv_lowered_way){ found[i], (int)algorithms[a].algorithm };
    return CSRCONV_OK;
}

static const char *name_of(int algorithm)
{
    int i = 0;
    while (i < ALGORITHMS - 1 && (int)algorithms[i].algorithm != algorithm)
        i++;
    return algorithms[i].name;
}

static csrconv_status make_state(const struct csrconv_problem *problem,
                                 struct csrconv_prepared *prepared, struct cusparse **out)
{
    struct cusparse *c;
    csrconv_status status = csrconv_allocate(&prepared->memory, 1, sizeof *c, &prepared->state);
    if (status)
        return status;
    *out = c = prepared->state;
    *c = (struct cusparse){ .conv = { .peer = &c->spmm,
                                      .multiply = csrconv_spmm_multiply,
                                      .forget = csrconv_spmm_forget } };
    status = csrconv_spmm_make(problem, &prepared->memory, &c->spmm);
    return status ? status : csrconv_cuda_upload_bias(problem, &prepared->memory, &c->conv.bias);
}

csrconv_status csrconv_cusparse_prepare(const struct csrconv_algorithm *self,
                                        const struct csrconv_problem *problem,
                                        struct csrconv_prepared *prepared)
{
    const struct csrconv_cusparse_traits *traits = self->traits;
    const int64_t images = traits->is_image_by_image ? timed_images : problem->shape.g.batch;
    struct csrconv_lowered_way ways[MOST_WAYS];
    struct csrconv_lowered_times times;
    struct cusparse *c = NULL;
    int count = 0;
    csrconv_status status;
    if ((status = make_state(problem, prepared, &c)) ||
        (status = list_ways(traits, &problem->shape, ways, &count)))
        return status;
    c->spmm.is_planning = true;
    status = csrconv_lowered_choose(&c->conv, problem, ways, count, images, &times);
    c->spmm.is_planning = false;
    if (status)
        return status;
    prepared->memory.bytes += c->spmm.buffer_bytes;
    csrconv_lowered_describe(&c->conv, &problem->shape, &times, name_of(c->conv.way.kernel),
                             prepared);
    return CSRCONV_OK;
}

void csrconv_cusparse_destroy(const struct csrconv_memory *memory, void *state)
{
    struct cusparse *c = state;
    if (!c)
        return;
    csrconv_spmm_free(memory, &c->spmm);
    csrconv_cuda_free(c->conv.bias);
    csrconv_release(memory, c);
}

const char *csrconv_cusparse_version(void)
{
    static char text[32];
    int major = 0, minor = 0, patch = 0;
    if (text[0])
        return text;
    (void)cusparseGetProperty(MAJOR_VERSION, &major);
    (void)cusparseGetProperty(MINOR_VERSION, &minor);
    (void)cusparseGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuSPARSE %d.%d.%d", major, minor, patch);
    return text;
}
