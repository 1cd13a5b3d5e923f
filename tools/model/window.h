/* The windows of a convolution or a pooling over the planes of an NCHW tensor. */
#ifndef CSRCONV_TOOLS_MODEL_WINDOW_H
#define CSRCONV_TOOLS_MODEL_WINDOW_H

#include "operator.h"

/* Pairs are of rows and columns. */
struct window {
    int64_t image[2];
    int64_t kernel[2], stride[2], dilation[2];
    int64_t begin[2], end[2]; /* padding: top and left, bottom and right */
    int64_t out[2];           /* how many windows there are */
};

/*
 * From the attributes and the first input, which has been checked to be NCHW. kernel NULL: it is
 * the attribute kernel_shape. Everything in it is below 2^31, and out at least 1.
 */
int window_of(const struct operation *operation, const int64_t *kernel, struct window *out);

#endif
