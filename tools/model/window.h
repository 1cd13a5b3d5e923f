/* The window that Conv and the poolings slide over height and width. */
#ifndef CSRCONV_TOOLS_MODEL_WINDOW_H
#define CSRCONV_TOOLS_MODEL_WINDOW_H

#include "model.h"

/* Each for height, then width. */
struct window {
    int64_t kernel[2], stride[2], dilation[2]; /* a dilation of 1 is none */
    int64_t before[2], after[2];               /* padding: top and left, bottom and right */
    int64_t out[2];
};

/*
 * Reads the attributes of a node for an image of that size: strides, dilations, pads or auto_pad
 * (NOTSET, VALID, SAME_UPPER, SAME_LOWER), ceil_mode. `kernel` is that of the weights, or NULL: the
 * attribute kernel_shape has it.
 */
int window_read(const struct model *model, const struct model_node *node, const int64_t *kernel,
                const int64_t image[2], struct window *out);

#endif
