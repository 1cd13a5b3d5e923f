/*
 * Weight stretching: the column (c, r, s) of a nonzero becomes the distance, in floats, of its
 * input element from the top left corner of the window in the zero-bordered image. It depends on
 * the padded size and the dilation, so it is made for a plan and never written back to the weights.
 */
#ifndef CSRCONV_STRETCH_H
#define CSRCONV_STRETCH_H

#include "csr.h"

/* (c * padded_h + r * dilation_h) * padded_w + s * dilation_w of one column. */
int64_t csrconv_stretch_column(const struct csrconv_shape *shape, int32_t column);

/* offsets[i] for each nonzero i of the weights; c counts within the group. */
void csrconv_stretch(const struct csrconv_shape *shape, const struct csrconv_weights *weights,
                     int64_t *offsets);

#endif
