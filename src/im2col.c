#include "im2col.h"

#include "pad.h"

#include <string.h>

int csrconv_im2col_is_identity(const struct csrconv_shape *shape)
{
    const csrconv_geometry *g = &shape->g;
    return g->kernel_h == 1 && g->kernel_w == 1 && g->stride_h == 1 && g->stride_w == 1 &&
           !csrconv_has_padding(shape);
}

/* The outputs x of [0, out_w) whose input x * stride + shift lies in [0, width): [*begin, *end). */
static void valid_outputs(const struct csrconv_shape *shape, int64_t shift, int64_t *begin,
                          int64_t *end)
{
    const int64_t stride = shape->g.stride_w, width = shape->g.width;
    *begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    *end = shift >= width ? 0 : (width - shift + stride - 1) / stride;
    if (*end > shape->out_w)
        *end = shape->out_w;
    if (*begin > *end)
        *begin = *end;
}

/* One output row of one kernel position: in is the input row, shift that of the first output. */
static void lower_row(const struct csrconv_shape *shape, const float *in, int64_t shift, float *to)
{
    const int64_t stride = shape->g.stride_w;
    int64_t begin, end;
    valid_outputs(shape, shift, &begin, &end);
    memset(to, 0, (size_t)begin * sizeof *to);
    if (stride == 1)
        memcpy(to + begin, in + begin + shift, (size_t)(end - begin) * sizeof *to);
    else
        for (int64_t x = begin; x < end; x++)
            to[x] = in[x * stride + shift];
    memset(to + end, 0, (size_t)(shape->out_w - end) * sizeof *to);
}

void csrconv_im2col(const struct csrconv_shape *shape, const float *planes, int64_t first_row,
                    int64_t rows, float *lowered)
{
    const csrconv_geometry *g = &shape->g;
    for (int64_t column = 0; column < shape->columns; column++) {
        const int64_t s = column % g->kernel_w;
        const int64_t r = column / g->kernel_w % g->kernel_h;
        const int64_t c = column / g->kernel_w / g->kernel_h;
        for (int64_t row = 0; row < rows; row++, lowered += shape->out_w) {
            const int64_t y = (first_row + row) * g->stride_h + r * g->dilation_h - g->pad_top;
            if (y < 0 || y >= g->height)
                memset(lowered, 0, (size_t)shape->out_w * sizeof *lowered);
            else
                lower_row(shape, planes + c * shape->plane + y * g->width,
                          s * g->dilation_w - g->pad_left, lowered);
        }
    }
}
