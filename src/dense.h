/* What the dense peers share: weights with their zeros, and the epilogue as a pass of its own. */
#ifndef CSRCONV_DENSE_H
#define CSRCONV_DENSE_H

#include "algorithm.h"

/* The weights as filters rows of shape->columns floats, from memory. */
csrconv_status csrconv_dense_weights(const struct csrconv_weights *weights,
                                     struct csrconv_memory *memory, float **dense);

/* Bias, residual and activation onto the sums that stand in the output of image `image`. */
void csrconv_dense_epilogue(const struct csrconv_run *run, int64_t image);

#endif
