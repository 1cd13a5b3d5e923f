/*
 * A problem with everything that a run of it needs: weights, activations, bias and residual, made
 * from a seed or taken from a file. Buffers stand between guards; the floats that a kernel must not
 * read, the guards and the gaps between images, are NaN.
 */
#ifndef CSRCONV_TOOLS_WORKLOAD_H
#define CSRCONV_TOOLS_WORKLOAD_H

#include "csrconv.h"

#include <stdbool.h>

enum workload_rows {
    ROWS_LIKE_REAL,  /* as uneven as those of real pruned layers */
    ROWS_SOME_EMPTY, /* every third filter has no nonzeros */
    ROWS_ONE_LONG    /* the last filter is full, the others hold what is left */
};

struct workload_options {
    uint64_t seed;
    double sparsity;
    bool is_exact;      /* small whole numbers: every sum is exact in fp32, in any order */
    bool is_misaligned; /* tensors start 4 bytes after a 256-byte boundary */
    bool has_bias, has_residual;
    csrconv_activation activation;
    float lo, hi;
    enum workload_rows rows;
    const float *weights; /* dense OIHW to use instead of generated ones, or NULL */
    const char *pattern;  /* its name, if weights is given */
};

/* A tensor of the batch, from `block` on with guards of GUARD_FLOATS before and behind. */
struct guarded {
    float *block;
    int64_t block_floats;
    int64_t start; /* of the tensor in the block */
    int64_t image, stride, n;
};

enum { GUARD_FLOATS = 64, WORKLOAD_PATTERN_SIZE = 96 };

struct workload {
    csrconv_geometry geometry; /* batch strides filled in */
    int64_t out_h, out_w;
    bool is_exact;
    bool is_misaligned;
    float *dense; /* OIHW */
    csrconv_weights *weights;
    int64_t nonzeros;
    double sparsity; /* as it is */
    int64_t *row_nonzeros;
    float *row_magnitude;                        /* sum of |w| of each filter */
    float *bias;                                 /* or NULL */
    double largest_activation, largest_residual; /* magnitudes */
    struct guarded in;
    struct guarded residual; /* block is NULL: none */
    csrconv_activation activation;
    float lo, hi;
    char pattern[WORKLOAD_PATTERN_SIZE];
};

/* Returns an exit_code, having complained; workload_free is right after a failure too. */
int workload_make(const csrconv_geometry *geometry, const struct workload_options *options,
                  struct workload *workload);
void workload_free(struct workload *workload);

/* An output block for the workload, filled with workload_canary everywhere. */
int workload_make_output(const struct workload *workload, struct guarded *out);
void guarded_free(struct guarded *guarded);

/* The first float of image n. */
float *guarded_image(const struct guarded *guarded, int64_t n);

/* The bits of a NaN that no computation makes. */
extern const uint32_t workload_canary;
void workload_fill_canaries(struct guarded *guarded);

/* The epilogue for plan options. */
csrconv_epilogue workload_epilogue(const struct workload *workload);

/* Operations of the batch, a multiply-add being two: over the nonzeros, or over all weights. */
double workload_flop(const struct workload *workload);
double workload_dense_flop(const struct workload *workload);

#endif
