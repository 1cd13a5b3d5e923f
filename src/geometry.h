/* The shape of a convolution, checked, with everything that follows from it: computed here only. */
#ifndef CSRCONV_GEOMETRY_H
#define CSRCONV_GEOMETRY_H

#include "csrconv.h"

/*
 * A checked geometry. No product of its members that stands here overflows, nor does the byte size
 * of the tensors, so that host and device code may index with int64_t without further checks.
 */
struct csrconv_shape {
    csrconv_geometry g; /* batch strides filled in, strides and dilations at most padded */
    int64_t out_h, out_w;
    int64_t padded_h, padded_w; /* H + pad_top + pad_bottom, ... */
    int64_t group_channels;     /* C / groups */
    int64_t group_filters;      /* M / groups */
    int64_t columns;            /* of the CSR matrix: group_channels * R * S */
    int64_t plane;              /* H * W */
    int64_t padded_plane;       /* padded_h * padded_w */
    int64_t padded_image;       /* C * padded_plane */
    int64_t out_plane;          /* out_h * out_w */
    int64_t in_image;           /* C * plane: floats that an image has */
    int64_t out_image;          /* M * out_plane */
};

csrconv_status csrconv_shape_init(struct csrconv_shape *shape, const csrconv_geometry *geometry);

#endif
