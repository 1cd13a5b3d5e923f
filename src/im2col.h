/* Lowering for the GEMM peers: the input windows of a group as the columns of a matrix. */
#ifndef CSRCONV_IM2COL_H
#define CSRCONV_IM2COL_H

#include "geometry.h"

/*
 * Whether the lowered matrix of an image is the image itself: a 1x1 kernel at stride 1 without
 * padding.
 */
int csrconv_im2col_is_identity(const struct csrconv_shape *shape);

/*
 * Fills lowered, shape->columns rows of rows * out_w floats: the windows of output rows
 * [first_row, first_row + rows) over the planes of one group of one image.
 */
void csrconv_im2col(const struct csrconv_shape *shape, const float *planes, int64_t first_row,
                    int64_t rows, float *lowered);

#endif
