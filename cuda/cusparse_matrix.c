#include "cusparse_spmm.h"

#include <string.h>

enum { GROUP_ALIGNMENT = 64 }; /* elements: a group's values begin where vector loads can */

csrconv_status csrconv_cusparse_check(cusparseStatus_t status, const char *what)
{
    if (status == CUSPARSE_STATUS_SUCCESS)
        return CSRCONV_OK;
    (void)cudaGetLastError();
    return csrconv_fail(status == CUSPARSE_STATUS_ALLOC_FAILED ||
                                status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
                            ? CSRCONV_OUT_OF_MEMORY
                            : CSRCONV_EXECUTION_FAILED,
                        "cuSPARSE: %s: %s", what, cusparseGetErrorString(status));
}

/* On the host, until it is uploaded. */
struct parts {
    int32_t *indptr, *indices;
    float *values;
    int64_t rows, entries; /* row pointers; indices, with the gaps between groups */
};

static int64_t aligned(int64_t elements)
{
    return (elements + GROUP_ALIGNMENT - 1) / GROUP_ALIGNMENT * GROUP_ALIGNMENT;
}

/* Where each group's entries are; returns how many places that takes. */
static int64_t place_groups(const struct csrconv_weights *w, int64_t filters,
                            struct csrconv_spmm *s)
{
    int64_t first = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        s->group[g] = (struct csrconv_spmm_group){
            .first = first,
            .nonzeros = w->indptr[(g + 1) * filters] - w->indptr[g * filters],
        };
        first += aligned(s->group[g].nonzeros);
    }
    return first;
}

static void fill_parts(const struct csrconv_weights *w, int64_t filters,
                       const struct csrconv_spmm *s, struct parts *p)
{
    memset(p->indices, 0, (size_t)p->entries * sizeof *p->indices);
    memset(p->values, 0, (size_t)p->entries * sizeof *p->values);
    for (int64_t g = 0; g < s->groups; g++) {
        const struct csrconv_spmm_group *group = &s->group[g];
        const int64_t from = w->indptr[g * filters];
        for (int64_t m = 0; m <= filters; m++)
            p->indptr[g * (filters + 1) + m] = (int32_t)(w->indptr[g * filters + m] - from);
        memcpy(p->indices + group->first, w->indices + from,
               (size_t)group->nonzeros * sizeof *p->indices);
        memcpy(p->values + group->first, w->values + from,
               (size_t)group->nonzeros * sizeof *p->values);
    }
}

static csrconv_status upload(const struct parts *p, struct csrconv_memory *memory,
                             struct csrconv_spmm *s)
{
    csrconv_status status;
    if ((status = csrconv_cuda_upload(memory, p->indptr, p->rows, sizeof *p->indptr,
                                      (void **)&s->indptr)) ||
        (status = csrconv_cuda_upload(memory, p->indices, p->entries, sizeof *p->indices,
                                      (void **)&s->indices)))
        return status;
    return csrconv_cuda_upload(memory, p->values, p->entries, sizeof *p->values,
                               (void **)&s->values);
}

csrconv_status csrconv_spmm_make(const struct csrconv_problem *problem,
                                 struct csrconv_memory *memory, struct csrconv_spmm *spmm)
{
    const int64_t filters = problem->shape.group_filters;
    struct csrconv_memory passing = { .allocator = memory->allocator }; /* not the plan's */
    struct parts p = { .rows = problem->shape.g.groups * (filters + 1) };
    csrconv_status status;
    spmm->groups = problem->shape.g.groups;
    if ((status = csrconv_cusparse_check(cusparseCreate(&spmm->handle), "a handle")) ||
        (status =
             csrconv_allocate(memory, spmm->groups, sizeof *spmm->group, (void **)&spmm->group)))
        return status;
    p.entries = place_groups(problem->weights, filters, spmm);
    if (!(status = csrconv_allocate(&passing, p.rows, sizeof *p.indptr, (void **)&p.indptr)) &&
        !(status = csrconv_allocate(&passing, p.entries, sizeof *p.indices, (void **)&p.indices)) &&
        !(status = csrconv_allocate(&passing, p.entries, sizeof *p.values, (void **)&p.values))) {
        fill_parts(problem->weights, filters, spmm, &p);
        status = upload(&p, memory, spmm);
    }
    csrconv_release(memory, p.values);
    csrconv_release(memory, p.indices);
    csrconv_release(memory, p.indptr);
    return status;
}

void csrconv_spmm_forget(void *peer)
{
    struct csrconv_spmm *s = peer;
    for (int64_t g = 0; s->group && g < s->groups; g++) {
        struct csrconv_spmm_group *group = &s->group[g];
        if (group->matrix)
            (void)cusparseDestroySpMat(group->matrix);
        csrconv_cuda_free(group->buffer);
        group->matrix = NULL;
        group->buffer = NULL;
    }
    csrconv_cuda_free(s->spare);
    s->spare = NULL;
    s->spare_bytes = s->buffer_bytes = 0;
}

void csrconv_spmm_free(const struct csrconv_memory *memory, struct csrconv_spmm *spmm)
{
    csrconv_spmm_forget(spmm);
    if (spmm->handle)
        (void)cusparseDestroy(spmm->handle);
    csrconv_cuda_free(spmm->indptr);
    csrconv_cuda_free(spmm->indices);
    csrconv_cuda_free(spmm->values);
    csrconv_release(memory, spmm->group);
}
