/* Zero borders around input planes. */
#ifndef CSRCONV_PAD_H
#define CSRCONV_PAD_H

#include "geometry.h"
#include "team.h"

/* Whether the image with its borders differs from the image. */
static inline int csrconv_has_padding(const struct csrconv_shape *shape)
{
    const csrconv_geometry *g = &shape->g;
    return g->pad_top || g->pad_left || g->pad_bottom || g->pad_right;
}

/*
 * Copies n images, apart by in_batch_stride, to images of padded_image floats, one behind the
 * other, with their borders set to zero.
 */
void csrconv_pad_images(const struct csrconv_shape *shape, const struct csrconv_team *team,
                        int64_t n, const float *in, float *padded);

#endif
