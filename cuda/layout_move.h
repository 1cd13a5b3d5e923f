/*
 * How elements move between NCHW and the layout of a vendor's library: the arithmetic of the
 * conversions, without their types.
 */
#ifndef CSRCONV_LAYOUT_MOVE_H
#define CSRCONV_LAYOUT_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The inner side. */
struct csrconv_cuda_format {
    bool is_nhwc;
    bool is_half;
};

/*
 * The outer side: `count` images of channels * plane floats, `stride` floats apart. The inner side
 * has inner_channels, at least `channels`, and just as many where it is NCHW.
 */
struct csrconv_cuda_images {
    int64_t count, channels, plane, stride;
    int64_t inner_channels;
};

/*
 * Images as matrices of rows * columns elements, in elements. Element (row, column) goes from
 * row * from_pitch + column to column * to_pitch + row if the matrix is transposed, which leaves
 * to_pitch - rows elements of each target row to be zero; else it keeps its place.
 */
struct csrconv_layout_move {
    int64_t images, rows, columns;
    int64_t from_pitch, to_pitch;
    int64_t from_stride, to_stride; /* from an image to the next */
    bool is_transposed;
};

struct csrconv_layout_move csrconv_layout_inwards(const struct csrconv_cuda_format *format,
                                                  const struct csrconv_cuda_images *images);
struct csrconv_layout_move csrconv_layout_outwards(const struct csrconv_cuda_format *format,
                                                   const struct csrconv_cuda_images *images);

#ifdef __cplusplus
}
#endif

#endif
