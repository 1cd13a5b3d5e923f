#include "csr.h"

#include "checked.h"
#include "status.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* So that the row pointers can be counted in bytes. */
static const int64_t most_filters = INT64_MAX / 16;

static csrconv_status check_sizes(const struct csrconv_weights *w, int64_t *columns)
{
    int64_t kernel;
    if (w->filters < 1 || w->channels_per_group < 1 || w->kernel_h < 1 || w->kernel_w < 1)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY,
                            "filters %" PRId64 ", channels_per_group %" PRId64 ", kernel %" PRId64
                            " x %" PRId64 ": all must be at least 1",
                            w->filters, w->channels_per_group, w->kernel_h, w->kernel_w);
    if (w->filters > most_filters)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY, "filters is %" PRId64 ", at most %" PRId64,
                            w->filters, most_filters);
    if (csrconv_multiply_overflows(w->kernel_h, w->kernel_w, &kernel) ||
        csrconv_multiply_overflows(w->channels_per_group, kernel, columns) || *columns > INT32_MAX)
        return csrconv_fail(CSRCONV_BAD_GEOMETRY,
                            "channels_per_group %" PRId64 " * kernel %" PRId64 " x %" PRId64
                            " is more than 2^31 - 1 columns",
                            w->channels_per_group, w->kernel_h, w->kernel_w);
    return CSRCONV_OK;
}

/* Makes the object with room for `nonzeros` entries; sizes holds filters, channels and kernel. */
static csrconv_status weights_create(const struct csrconv_weights *sizes, int64_t nonzeros,
                                     const csrconv_allocator *allocator, csrconv_weights **out)
{
    struct csrconv_memory memory;
    struct csrconv_weights *w = NULL;
    csrconv_status status = csrconv_memory_init(&memory, allocator);
    if (!status)
        status = csrconv_allocate(&memory, 1, sizeof *w, (void **)&w);
    if (status)
        return status;
    *w = *sizes;
    w->indptr = NULL;
    w->indices = NULL;
    w->values = NULL;
    if ((status =
             csrconv_allocate(&memory, w->filters + 1, sizeof *w->indptr, (void **)&w->indptr)) ||
        (status = csrconv_allocate(&memory, nonzeros, sizeof *w->indices, (void **)&w->indices)) ||
        (status = csrconv_allocate(&memory, nonzeros, sizeof *w->values, (void **)&w->values))) {
        w->memory = memory;
        csrconv_weights_destroy(&w);
        return status;
    }
    w->memory = memory;
    w->indptr[0] = 0;
    *out = w;
    return CSRCONV_OK;
}

void csrconv_weights_destroy(csrconv_weights **weights)
{
    struct csrconv_weights *w = weights ? *weights : NULL;
    struct csrconv_memory memory;
    if (!w)
        return;
    memory = w->memory;
    csrconv_release(&memory, w->values);
    csrconv_release(&memory, w->indices);
    csrconv_release(&memory, w->indptr);
    csrconv_release(&memory, w);
    *weights = NULL;
}

csrconv_status csrconv_weights_from_dense(const float *oihw, int64_t filters,
                                          int64_t channels_per_group, int64_t kernel_h,
                                          int64_t kernel_w, const csrconv_allocator *allocator,
                                          csrconv_weights **out)
{
    struct csrconv_weights sizes = { .filters = filters,
                                     .channels_per_group = channels_per_group,
                                     .kernel_h = kernel_h,
                                     .kernel_w = kernel_w };
    csrconv_status status;
    int64_t count, nonzeros = 0, at = 0;
    if (!out)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!oihw)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "oihw is NULL");
    status = check_sizes(&sizes, &sizes.columns);
    if (status)
        return status;
    if (csrconv_multiply_overflows(filters, sizes.columns, &count) ||
        (uint64_t)count > PTRDIFF_MAX / sizeof(float))
        return csrconv_fail(CSRCONV_BAD_GEOMETRY,
                            "filters %" PRId64 " * %" PRId64 " columns exceed the address space",
                            filters, sizes.columns);
    for (int64_t i = 0; i < count; i++)
        nonzeros += oihw[i] != 0.0F;
    status = weights_create(&sizes, nonzeros, allocator, out);
    if (status)
        return status;
    for (int64_t m = 0; m < filters; m++) {
        const float *row = oihw + m * sizes.columns;
        for (int64_t k = 0; k < sizes.columns; k++) {
            if (row[k] != 0.0F) {
                (*out)->indices[at] = (int32_t)k;
                (*out)->values[at++] = row[k];
            }
        }
        (*out)->indptr[m + 1] = at;
    }
    return CSRCONV_OK;
}

static csrconv_status check_indptr(const csrconv_csr *csr, int64_t columns)
{
    if (!csr->indptr)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "csr.indptr is NULL");
    if (csr->indptr[0] != 0)
        return csrconv_fail(CSRCONV_BAD_CSR, "indptr[0] is %" PRId64 ", must be 0", csr->indptr[0]);
    for (int64_t m = 0; m < csr->filters; m++) {
        const int64_t begin = csr->indptr[m], end = csr->indptr[m + 1];
        if (end < begin)
            return csrconv_fail(CSRCONV_BAD_CSR,
                                "row %" PRId64 ": indptr falls from %" PRId64 " to %" PRId64, m,
                                begin, end);
        if (end - begin > columns)
            return csrconv_fail(CSRCONV_BAD_CSR,
                                "row %" PRId64 ": %" PRId64 " entries in %" PRId64 " columns", m,
                                end - begin, columns);
    }
    if (csr->indptr[csr->filters] && (!csr->indices || !csr->values))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "csr.%s is NULL, with %" PRId64 " nonzeros",
                            csr->indices ? "values" : "indices", csr->indptr[csr->filters]);
    return CSRCONV_OK;
}

/* Moves entry `root` of the heap of `size` pairs down to its place. */
static void sift_down(int32_t *indices, float *values, int64_t root, int64_t size)
{
    const int32_t index = indices[root];
    const float value = values[root];
    for (int64_t child; (child = 2 * root + 1) < size; root = child) {
        if (child + 1 < size && indices[child + 1] > indices[child])
            child++;
        if (indices[child] <= index)
            break;
        indices[root] = indices[child];
        values[root] = values[child];
    }
    indices[root] = index;
    values[root] = value;
}

/* Sorts a row of pairs by column, in place: heapsort needs no memory and no luck. */
static void sort_row(int32_t *indices, float *values, int64_t size)
{
    for (int64_t root = size / 2 - 1; root >= 0; root--)
        sift_down(indices, values, root, size);
    for (int64_t last = size - 1; last > 0; last--) {
        const int32_t index = indices[0];
        const float value = values[0];
        indices[0] = indices[last];
        values[0] = values[last];
        indices[last] = index;
        values[last] = value;
        sift_down(indices, values, 0, last);
    }
}

/* Copies row m of csr to the end of w, checked and sorted, and only then drops stored zeros. */
static csrconv_status append_row(struct csrconv_weights *w, const csrconv_csr *csr, int64_t m)
{
    const int64_t begin = csr->indptr[m], size = csr->indptr[m + 1] - begin;
    int32_t *indices = w->indices + w->indptr[m];
    float *values = w->values + w->indptr[m];
    bool sorted = true;
    int64_t kept = 0;
    for (int64_t i = 0; i < size; i++) {
        const int32_t column = csr->indices[begin + i];
        if (column < 0 || column >= w->columns)
            return csrconv_fail(CSRCONV_BAD_CSR,
                                "row %" PRId64 ": column %" PRId32 " is not in [0, %" PRId64 ")", m,
                                column, w->columns);
        indices[i] = column;
        values[i] = csr->values[begin + i];
        sorted = sorted && (i == 0 || indices[i - 1] < column);
    }
    if (!sorted)
        sort_row(indices, values, size);
    for (int64_t i = 0; i < size; i++) {
        if (i && indices[i] == indices[i - 1])
            return csrconv_fail(CSRCONV_BAD_CSR,
                                "row %" PRId64 ": column %" PRId32 " stands there twice", m,
                                indices[i]);
    }
    for (int64_t i = 0; i < size; i++) {
        indices[kept] = indices[i];
        values[kept] = values[i];
        kept += values[i] != 0.0F;
    }
    w->indptr[m + 1] = w->indptr[m] + kept;
    return CSRCONV_OK;
}

csrconv_status csrconv_weights_from_csr(const csrconv_csr *csr, const csrconv_allocator *allocator,
                                        csrconv_weights **out)
{
    struct csrconv_weights sizes = { 0 };
    csrconv_status status;
    if (!out)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "out is NULL");
    *out = NULL;
    if (!csr)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "csr is NULL");
    status = csrconv_check_struct("csrconv_csr", csr->struct_size, sizeof *csr);
    if (status)
        return status;
    sizes.filters = csr->filters;
    sizes.channels_per_group = csr->channels_per_group;
    sizes.kernel_h = csr->kernel_h;
    sizes.kernel_w = csr->kernel_w;
    if ((status = check_sizes(&sizes, &sizes.columns)) ||
        (status = check_indptr(csr, sizes.columns)) ||
        (status = weights_create(&sizes, csr->indptr[csr->filters], allocator, out)))
        return status;
    for (int64_t m = 0; m < csr->filters && !status; m++)
        status = append_row(*out, csr, m);
    if (status)
        csrconv_weights_destroy(out);
    return status;
}

csrconv_status csrconv_weights_view(const csrconv_weights *weights, csrconv_csr *view)
{
    csrconv_status status;
    if (!weights || !view)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", weights ? "view" : "weights");
    status = csrconv_check_struct("csrconv_csr", view->struct_size, sizeof *view);
    if (status)
        return status;
    view->filters = weights->filters;
    view->channels_per_group = weights->channels_per_group;
    view->kernel_h = weights->kernel_h;
    view->kernel_w = weights->kernel_w;
    view->indptr = weights->indptr;
    view->indices = weights->indices;
    view->values = weights->values;
    return CSRCONV_OK;
}

csrconv_status csrconv_check_weights(const struct csrconv_weights *weights,
                                     const struct csrconv_shape *shape)
{
    const csrconv_geometry *g = &shape->g;
    if (weights->filters == g->filters && weights->channels_per_group == shape->group_channels &&
        weights->kernel_h == g->kernel_h && weights->kernel_w == g->kernel_w)
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_BAD_GEOMETRY,
                        "weights of %" PRId64 " filters, %" PRId64 " channels, kernel %" PRId64
                        " x %" PRId64 " for a geometry of %" PRId64 " filters, %" PRId64
                        " channels per group, kernel %" PRId64 " x %" PRId64,
                        weights->filters, weights->channels_per_group, weights->kernel_h,
                        weights->kernel_w, g->filters, shape->group_channels, g->kernel_h,
                        g->kernel_w);
}
