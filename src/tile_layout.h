/*
 * How the blocked kernels see an input image: as phase planes, in which every nonzero of the
 * weights is one distance and neighbouring outputs are neighbouring positions, whatever stride,
 * dilation and padding are.
 *
 * Output (y, x) reads row y * stride + r * dilation of the zero-bordered image. The rows with the
 * same remainder modulo the stride make a phase; within it, the row of kernel row r is y + r *
 * dilation / stride (rounded down). The same holds for columns. So each channel is kept as one
 * plane per pair of phases that the kernel uses, and the outputs of an image are the positions
 * y * pitch + x of a line. The border at the right of a row and that at the left of the next one
 * are the same zeros where they can be, so a row is barely longer than its outputs; positions
 * between out_w and pitch are computed and thrown away.
 *
 * A position is one float, and neighbouring positions make a vector; or it is a vector itself, one
 * image in each lane.
 */
#ifndef CSRCONV_TILE_LAYOUT_H
#define CSRCONV_TILE_LAYOUT_H

#include "geometry.h"

#include <stdbool.h>

struct csrconv_tile_layout {
    bool images_in_lanes;
    int64_t lanes;    /* floats of a vector */
    int64_t element;  /* floats of a position: 1, or lanes */
    int64_t phases_h; /* phases that the kernel's rows use */
    int64_t phases_w;
    int64_t rows;           /* of a phase plane */
    int64_t pitch;          /* positions from a row to the next */
    int64_t plane_stride;   /* positions from a phase plane to the next */
    int64_t channel_stride; /* positions from a channel to the next */
    int64_t positions;      /* of the outputs: (out_h - 1) * pitch + out_w */
    int64_t vectors;        /* that cover them */
    bool in_place;          /* the planes are the caller's own */
};

/*
 * The layout of a shape; channel_stride is that of planes without gaps. CSRCONV_NOT_SUPPORTED if an
 * image in it has more floats than a 32-bit distance reaches.
 */
csrconv_status csrconv_tile_layout_init(struct csrconv_tile_layout *layout,
                                        const struct csrconv_shape *shape, int64_t lanes,
                                        bool images_in_lanes);

/* Distance in floats of the input of (c, r, s) from that of (0, 0, 0), c over all groups. */
int64_t csrconv_tile_offset(const struct csrconv_tile_layout *layout,
                            const struct csrconv_shape *shape, int64_t c, int64_t r, int64_t s);

/* Floats of an image, or of a vector of images; room for a tile that ends behind it included. */
int64_t csrconv_tile_image_floats(const struct csrconv_tile_layout *layout,
                                  const struct csrconv_shape *shape, int64_t tile_vectors);

/* What a tile reads of one phase plane of a channel, in positions: stretches of rows. */
struct csrconv_tile_window {
    int64_t rows;
    int64_t row_stride; /* from the start of a stretch to the next; may be less than columns */
    int64_t columns;
};

/* Of a tile that is `columns` positions of each of `rows` rows of outputs. */
struct csrconv_tile_window csrconv_tile_window_of(const struct csrconv_tile_layout *layout,
                                                  const struct csrconv_shape *shape, int64_t rows,
                                                  int64_t columns);

/* Bytes of one channel in such a window, over all phases. */
int64_t csrconv_tile_window_bytes(const struct csrconv_tile_layout *layout,
                                  const struct csrconv_tile_window *window);

#endif
