#include "cusparse_spmm.h"

#include "cuda_product.h"

#include <inttypes.h>

enum {
    MOST_PIXELS = 65535 * 16, /* columns in a call: beyond, cuSPARSE gives zeros and says nothing */
    MOST_IMAGES = 65535,      /* matrices in a call */
    PIXEL_STEP = 8,           /* parts of a matrix begin at sectors of 32 bytes */
    LEAST_BUFFER_BYTES = 256
};

/* One call: a group's matrix times the same pixels of some images. */
struct call {
    int64_t group, pixel, pixels, image, images;
};

/* The three matrices of a call; the first is not always the call's own. */
struct operands {
    cusparseSpMatDescr_t sparse;
    cusparseDnMatDescr_t lowered, product;
    cusparseSpMMAlg_t algorithm;
};

static csrconv_status describe_sparse(const struct csrconv_spmm *s,
                                      const struct csrconv_shape *shape, const struct call *call,
                                      cusparseSpMatDescr_t *sparse)
{
    const struct csrconv_spmm_group *group = &s->group[call->group];
    const int64_t filters = shape->group_filters;
    const csrconv_status status = csrconv_cusparse_check(
        cusparseCreateCsr(sparse, filters, shape->columns, group->nonzeros,
                          s->indptr + call->group * (filters + 1), s->indices + group->first,
                          s->values + group->first, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
        "the sparse matrix");
    if (status || call->images == 1)
        return status;
    return csrconv_cusparse_check(cusparseCsrSetStridedBatch(*sparse, (int)call->images, 0, 0),
                                  "one sparse matrix for several images");
}

/* Row-major if pixels are together, else column-major. `row` is the first of the group. */
static csrconv_status describe_dense(const struct csrconv_strides *strides, float *first,
                                     int64_t row, int64_t rows, const struct call *call,
                                     cusparseDnMatDescr_t *dense)
{
    const bool by_row = strides->pixel == 1;
    float *at =
        first + row * strides->row + call->pixel * strides->pixel + call->image * strides->image;
    const csrconv_status status = csrconv_cusparse_check(
        cusparseCreateDnMat(dense, rows, call->pixels, by_row ? strides->row : strides->pixel, at,
                            CUDA_R_32F, by_row ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
        "a dense matrix");
    if (status || call->images == 1)
        return status;
    return csrconv_cusparse_check(
        cusparseDnMatSetStridedBatch(*dense, (int)call->images, strides->image),
        "dense matrices of several images");
}

/* cuSPARSE takes batches only without const; it does not write the lowered matrix. */
static csrconv_status describe_both(const struct csrconv_shape *shape,
                                    const struct csrconv_multiplication *m, const struct call *call,
                                    struct operands *o)
{
    float *lowered = (float *)(uintptr_t)m->lowered;
    const csrconv_status status = describe_dense(&m->from, lowered, call->group * shape->columns,
                                                 shape->columns, call, &o->lowered);
    return status ? status
                  : describe_dense(&m->to, m->product, call->group * shape->group_filters,
                                   shape->group_filters, call, &o->product);
}

static const float one = 1.0F, zero = 0.0F;

static csrconv_status buffer_size(const struct csrconv_spmm *s, const struct operands *o,
                                  size_t *bytes)
{
    return csrconv_cusparse_check(
        cusparseSpMM_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &one, o->sparse, o->lowered,
                                &zero, o->product, CUDA_R_32F, o->algorithm, bytes),
        "cusparseSpMM_bufferSize");
}

static csrconv_status spmm(const struct csrconv_spmm *s, const struct operands *o, void *buffer)
{
    return csrconv_cusparse_check(cusparseSpMM(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                               CUSPARSE_OPERATION_NON_TRANSPOSE, &one, o->sparse,
                                               o->lowered, &zero, o->product, CUDA_R_32F,
                                               o->algorithm, buffer),
                                  "cusparseSpMM");
}

static csrconv_status make_buffer(struct csrconv_spmm *s, size_t bytes, void **buffer)
{
    struct csrconv_memory counted = { 0 };
    const csrconv_status status = csrconv_cuda_allocate(&counted, (int64_t)bytes, 1, buffer);
    s->buffer_bytes += counted.bytes;
    return status;
}

/* Room for calls of another shape; only at plan time can it grow. */
static csrconv_status need_spare(struct csrconv_spmm *s, size_t bytes)
{
    csrconv_status status;
    if (bytes <= s->spare_bytes)
        return CSRCONV_OK;
    if (!s->is_planning)
        return csrconv_fail(CSRCONV_EXECUTION_FAILED,
                            "cuSPARSE wants a buffer of %zu bytes for fewer images, and %zu for "
                            "the whole batch",
                            bytes, s->spare_bytes);
    csrconv_cuda_free(s->spare);
    s->buffer_bytes -= s->spare_bytes;
    s->spare_bytes = 0;
    status = make_buffer(s, bytes, &s->spare);
    if (!status)
        s->spare_bytes = bytes;
    return status;
}

static csrconv_status preprocess(const struct csrconv_spmm *s, const struct operands *o,
                                 void *buffer)
{
    const cusparseStatus_t status = cusparseSpMM_preprocess(
        s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
        o->sparse, o->lowered, &zero, o->product, CUDA_R_32F, o->algorithm, buffer);
    return status == CUSPARSE_STATUS_NOT_SUPPORTED
               ? CSRCONV_OK
               : csrconv_cusparse_check(status, "cusparseSpMM_preprocess");
}

/* The first call of a group on a way, a full one: the matrix and its buffer stay. */
static csrconv_status prepare_group(struct csrconv_spmm *s, const struct csrconv_shape *shape,
                                    const struct call *call, struct operands *o)
{
    struct csrconv_spmm_group *group = &s->group[call->group];
    size_t bytes = 0;
    csrconv_status status;
    s->pixels = call->pixels;
    s->images = call->images;
    if ((status = describe_sparse(s, shape, call, &group->matrix)))
        return status;
    o->sparse = group->matrix;
    if ((status = buffer_size(s, o, &bytes)))
        return status;
    if (bytes < LEAST_BUFFER_BYTES)
        bytes = LEAST_BUFFER_BYTES;
    if ((status = make_buffer(s, bytes, &group->buffer)) || (status = need_spare(s, bytes)))
        return status;
    return preprocess(s, o, group->buffer);
}

static csrconv_status run_prepared(struct csrconv_spmm *s, const struct csrconv_shape *shape,
                                   const struct call *call, struct operands *o)
{
    const struct csrconv_spmm_group *group = &s->group[call->group];
    const csrconv_status status = group->matrix ? CSRCONV_OK : prepare_group(s, shape, call, o);
    o->sparse = group->matrix;
    return status ? status : spmm(s, o, group->buffer);
}

/* A call of another shape, without what preprocessing found. */
static csrconv_status run_plain(struct csrconv_spmm *s, const struct csrconv_shape *shape,
                                const struct call *call, struct operands *o)
{
    size_t bytes = 0;
    csrconv_status status = describe_sparse(s, shape, call, &o->sparse);
    if (!status && !(status = buffer_size(s, o, &bytes)) && !(status = need_spare(s, bytes)))
        status = spmm(s, o, s->spare);
    if (o->sparse)
        (void)cusparseDestroySpMat(o->sparse);
    return status;
}

static csrconv_status run_call(struct csrconv_spmm *s, const struct csrconv_shape *shape,
                               const struct csrconv_multiplication *m, const struct call *call)
{
    const bool is_first = s->is_planning && !s->group[call->group].matrix;
    const bool is_prepared = call->pixels == s->pixels && call->images == s->images;
    struct operands o = { .algorithm = (cusparseSpMMAlg_t)m->kernel };
    csrconv_status status = describe_both(shape, m, call, &o);
    if (!status && (is_first || is_prepared))
        status = run_prepared(s, shape, call, &o);
    else if (!status)
        status = run_plain(s, shape, call, &o);
    if (o.lowered)
        (void)cusparseDestroyDnMat(o.lowered);
    if (o.product)
        (void)cusparseDestroyDnMat(o.product);
    return status;
}

/* A group without weights, which cuSPARSE would not take: its product is zero. */
static csrconv_status clear_group(const struct csrconv_shape *shape,
                                  const struct csrconv_multiplication *m, int64_t group)
{
    const int64_t filters = shape->group_filters;
    float *first = m->product + group * filters * m->to.row;
    if (m->to.pixel != 1)
        return csrconv_cuda_clear(first, m->pixels, filters, m->to.pixel, m->stream);
    if (m->images == 1)
        return csrconv_cuda_clear(first, filters, m->pixels, m->to.row, m->stream);
    return csrconv_cuda_clear(first, m->images, filters * m->pixels, m->to.image, m->stream);
}

static csrconv_status run_group(struct csrconv_spmm *s, const struct csrconv_shape *shape,
                                const struct csrconv_multiplication *m, int64_t group)
{
    const int64_t pixels = csrconv_piece_of(m->pixels, MOST_PIXELS, PIXEL_STEP);
    const int64_t images = csrconv_piece_of(m->images, MOST_IMAGES, 1);
    for (int64_t image = 0; image < m->images; image += images)
        for (int64_t pixel = 0; pixel < m->pixels; pixel += pixels) {
            const struct call call = {
                group,
                pixel,
                m->pixels - pixel < pixels ? m->pixels - pixel : pixels,
                image,
                m->images - image < images ? m->images - image : images,
            };
            const csrconv_status status = run_call(s, shape, m, &call);
            if (status)
                return status;
        }
    return CSRCONV_OK;
}

csrconv_status csrconv_spmm_multiply(void *peer, const struct csrconv_shape *shape,
                                     const struct csrconv_multiplication *m)
{
    struct csrconv_spmm *s = peer;
    csrconv_status status =
        csrconv_cusparse_check(cusparseSetStream(s->handle, m->stream), "the stream");
    for (int64_t g = 0; g < s->groups && !status; g++)
        status = s->group[g].nonzeros ? run_group(s, shape, m, g) : clear_group(shape, m, g);
    return status;
}
