/*
 * What a convolution should come to: seven loops in double over the dense weights, sharing no code
 * with the library, not even the size of the output. A weight of zero is pruned and contributes
 * nothing, whatever the activation.
 */
#ifndef CSRCONV_TOOLS_ORACLE_H
#define CSRCONV_TOOLS_ORACLE_H

#include "csrconv.h"

struct oracle {
    csrconv_geometry geometry; /* batch strides not 0 */
    int64_t out_h, out_w;
    const float *weights; /* dense OIHW */
    const float *in;
    const float *bias;     /* or NULL */
    const float *residual; /* or NULL; laid out as the output */
    csrconv_activation activation;
    float lo, hi;
};

/* A part of an output plane: rows [top, bottom), columns [left, right) of filter m, image n. */
struct oracle_window {
    int64_t n, m, top, bottom, left, right;
};

/*
 * For each output of the window, row by row: the value, and the sum of the magnitudes of everything
 * that was added up for it, which is what rounding errors are measured by.
 */
void oracle_compute(const struct oracle *oracle, const struct oracle_window *window, double *want,
                    double *magnitude);

#endif
