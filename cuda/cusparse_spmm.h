/* The groups' CSR matrices on the device, and their product with a lowered matrix by cuSPARSE. */
#ifndef CSRCONV_CUDA_CUSPARSE_SPMM_H
#define CSRCONV_CUDA_CUSPARSE_SPMM_H

#include "lowered_conv.h"

#include <cusparse.h>

/* The matrix of a group. What preprocessing left in its buffer must stay there between calls. */
struct csrconv_spmm_group {
    int64_t first, nonzeros; /* in indices and values */
    cusparseSpMatDescr_t matrix;
    void *buffer;
};

struct csrconv_spmm {
    cusparseHandle_t handle;
    int64_t groups;
    struct csrconv_spmm_group *group;
    int32_t *indptr, *indices; /* group_filters + 1 row pointers a group, from 0 in each */
    float *values;
    bool is_planning;       /* calls may allocate and preprocess */
    int64_t pixels, images; /* of the calls that the matrices were preprocessed for */
    void *spare;            /* the buffer of other calls, such as those of few images */
    size_t spare_bytes;
    size_t buffer_bytes; /* of all buffers */
};

/* CSRCONV_OK, or a status and a sentence that names what failed. */
csrconv_status csrconv_cusparse_check(cusparseStatus_t status, const char *what);

/* Fills *spmm, cleared before; csrconv_spmm_free takes it also half-made. */
csrconv_status csrconv_spmm_make(const struct csrconv_problem *problem,
                                 struct csrconv_memory *memory, struct csrconv_spmm *spmm);
void csrconv_spmm_free(const struct csrconv_memory *memory, struct csrconv_spmm *spmm);

/* Drops the buffers, and what preprocessing left in them. */
void csrconv_spmm_forget(void *peer);

/* For csrconv_lowered_conv: the peer is the struct csrconv_spmm, m->kernel a cusparseSpMMAlg_t. */
csrconv_status csrconv_spmm_multiply(void *peer, const struct csrconv_shape *shape,
                                     const struct csrconv_multiplication *m);

#endif
