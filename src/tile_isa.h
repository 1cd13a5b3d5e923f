/* What the blocked kernels need of an instruction set: one constant of this in each direct_ISA.c.
 */
#ifndef CSRCONV_TILE_ISA_H
#define CSRCONV_TILE_ISA_H

#include "csrconv.h"
#include "segments.h"

/* Of a data cache. */
enum { CSRCONV_LINE_BYTES = 64, CSRCONV_LINE_FLOATS = CSRCONV_LINE_BYTES / sizeof(float) };

/* Where a tile reads, 4-byte alignment being enough; and how its sums lie. */
struct csrconv_tile_place {
    const float *first;  /* inputs of the first half of its vectors, rounded up */
    const float *second; /* of the others */
    int64_t second_sums; /* floats from the sums of the first half to those of the second */
    int64_t count;       /* floats that the vector of a tile of one reads, where below lanes */
};

/*
 * The sums of one filter over one segment and one tile of a fixed number of vectors: to = start +
 * sum of value * inputs[offset ...]. start is NULL for sums that start from the bias; start and to
 * may be the same, and are aligned as a vector. next: the sums that come after these, to be
 * fetched.
 */
typedef void (*csrconv_tile_kernel)(const struct csrconv_tile_place *place,
                                    const struct csrconv_nonzero *begin,
                                    const struct csrconv_nonzero *end, const float *start,
                                    float bias, float *to, const float *next);

/*
 * A square of a matrix turned around: to[j * to_stride + i] = from[i * from_stride + j] for i <
 * lanes and j < columns <= lanes. Reads nothing beyond the columns.
 */
typedef void (*csrconv_transpose)(const float *from, int64_t from_stride, int64_t columns,
                                  float *to, int64_t to_stride);

/*
 * A stretch of outputs: to = min(hi, max(lo, from + residual)), NaN kept; residual may be NULL.
 * Also copies, between infinities. No alignment needed; from and to do not overlap.
 */
typedef void (*csrconv_finish)(const float *from, const float *residual, float lo, float hi,
                               int64_t count, float *to);

struct csrconv_tile_isa {
    csrconv_status (*need)(void); /* fails where the processor lacks it */
    int64_t lanes;                /* floats of a vector */
    int64_t most_vectors;  /* of a tile: what the registers hold beside an input and a weight */
    double unaligned_load; /* in loads of a vector that does not cross a line, on average */
    const csrconv_tile_kernel *kernels; /* by number of vectors, from 1 on */
    csrconv_transpose transpose;
    csrconv_finish finish;
    csrconv_finish finish_streamed; /* the same past the caches, for outputs that no cache holds */
    void (*settle)(void);           /* makes what was streamed visible to other threads */
};

#endif
