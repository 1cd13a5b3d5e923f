#include "stretch.h"

int64_t csrconv_stretch_column(const struct csrconv_shape *shape, int32_t column)
{
    const int64_t s = column % shape->g.kernel_w;
    const int64_t r = column / shape->g.kernel_w % shape->g.kernel_h;
    const int64_t c = column / shape->g.kernel_w / shape->g.kernel_h;
    return (c * shape->padded_h + r * shape->g.dilation_h) * shape->padded_w +
           s * shape->g.dilation_w;
}

void csrconv_stretch(const struct csrconv_shape *shape, const struct csrconv_weights *weights,
                     int64_t *offsets)
{
    for (int64_t i = 0; i < csrconv_nonzeros(weights); i++)
        offsets[i] = csrconv_stretch_column(shape, weights->indices[i]);
}
