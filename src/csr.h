/* The immutable filter bank: a checked CSR matrix, columns ascending in each row, no zeros stored.
 */
#ifndef CSRCONV_CSR_H
#define CSRCONV_CSR_H

#include "csrconv.h"
#include "geometry.h"
#include "memory.h"

struct csrconv_weights {
    struct csrconv_memory memory;
    int64_t filters;
    int64_t channels_per_group;
    int64_t kernel_h;
    int64_t kernel_w;
    int64_t columns; /* channels_per_group * kernel_h * kernel_w */
    int64_t *indptr; /* filters + 1; indptr[0] = 0 */
    int32_t *indices;
    float *values;
};

static inline int64_t csrconv_nonzeros(const struct csrconv_weights *weights)
{
    return weights->indptr[weights->filters];
}

/* CSRCONV_BAD_GEOMETRY if the weights are not those of a convolution of this shape. */
csrconv_status csrconv_check_weights(const struct csrconv_weights *weights,
                                     const struct csrconv_shape *shape);

#endif
