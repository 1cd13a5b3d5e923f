#include "tile_layout.h"

#include "pad.h"
#include "status.h"

#include <inttypes.h>

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Remainders of k * dilation modulo the stride repeat in k with this period. */
static int64_t phase_count(int64_t kernel, int64_t stride, int64_t dilation)
{
    return least(kernel, stride / greatest_common_divisor(stride, dilation));
}

/* Columns of a phase plane that hold input: from *first to before *end; the rest is border. */
static void input_columns(const struct csrconv_shape *shape, int64_t phase, int64_t *first,
                          int64_t *end)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t before = most(g->pad_left - phase, 0);
    const int64_t behind = g->pad_left + g->width - phase;
    *first = (before + g->stride_w - 1) / g->stride_w;
    *end = behind > 0 ? (behind + g->stride_w - 1) / g->stride_w : 0;
}

/*
 * The shortest pitch at which a read beyond the end of a row falls into the zeros at the beginning
 * of the next one.
 */
static int64_t shortest_pitch(const struct csrconv_tile_layout *layout,
                              const struct csrconv_shape *shape, int64_t last_column)
{
    const csrconv_geometry *g = &shape->g;
    int64_t pitch = shape->out_w;
    for (int64_t j = 0; j < layout->phases_w; j++) {
        int64_t first, end;
        input_columns(shape, j * g->dilation_w % g->stride_w, &first, &end);
        if (first < end)
            pitch = most(pitch, most(end, last_column - first + 1));
    }
    return pitch;
}

csrconv_status csrconv_tile_layout_init(struct csrconv_tile_layout *layout,
                                        const struct csrconv_shape *shape, int64_t lanes,
                                        bool images_in_lanes)
{
    const csrconv_geometry *g = &shape->g;
    if (shape->padded_image > INT32_MAX / 4 / lanes)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "a padded image of %" PRId64
                            " floats: distances are counted in 32 bits",
                            shape->padded_image);
    const int64_t last_column = shape->out_w - 1 + (g->kernel_w - 1) * g->dilation_w / g->stride_w;
    const int64_t last_row = shape->out_h - 1 + (g->kernel_h - 1) * g->dilation_h / g->stride_h;
    layout->images_in_lanes = images_in_lanes;
    layout->lanes = lanes;
    layout->element = images_in_lanes ? lanes : 1;
    layout->phases_h = phase_count(g->kernel_h, g->stride_h, g->dilation_h);
    layout->phases_w = phase_count(g->kernel_w, g->stride_w, g->dilation_w);
    layout->rows = last_row + 1;
    layout->pitch = shortest_pitch(layout, shape, last_column);
    layout->plane_stride = layout->rows * layout->pitch + most(last_column + 1 - layout->pitch, 0);
    layout->channel_stride = layout->plane_stride * layout->phases_h * layout->phases_w;
    layout->positions = (shape->out_h - 1) * layout->pitch + shape->out_w;
    layout->vectors = images_in_lanes ? layout->positions : (layout->positions + lanes - 1) / lanes;
    layout->in_place = false;
    return CSRCONV_OK;
}

int64_t csrconv_tile_offset(const struct csrconv_tile_layout *layout,
                            const struct csrconv_shape *shape, int64_t c, int64_t r, int64_t s)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t plane = r % layout->phases_h * layout->phases_w + s % layout->phases_w;
    return (c * layout->channel_stride + plane * layout->plane_stride +
            r * g->dilation_h / g->stride_h * layout->pitch + s * g->dilation_w / g->stride_w) *
           layout->element;
}

int64_t csrconv_tile_image_floats(const struct csrconv_tile_layout *layout,
                                  const struct csrconv_shape *shape, int64_t tile_vectors)
{
    return shape->g.channels * layout->channel_stride * layout->element +
           (tile_vectors + 1) * layout->lanes;
}

struct csrconv_tile_window csrconv_tile_window_of(const struct csrconv_tile_layout *layout,
                                                  const struct csrconv_shape *shape, int64_t rows,
                                                  int64_t columns)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t kernel_rows = (g->kernel_h + layout->phases_h - 1) / layout->phases_h;
    const int64_t step = layout->phases_h * g->dilation_h / g->stride_h; /* of kernel rows */
    struct csrconv_tile_window window = { .row_stride = layout->pitch };
    window.columns = columns + (g->kernel_w - 1) * g->dilation_w / g->stride_w;
    /* Rows of the kernel that are next to each other meet the same input in the tile's rows. */
    window.rows = step == 1 || kernel_rows == 1 ? kernel_rows + rows - 1 : kernel_rows * rows;
    if (rows == 1 && kernel_rows > 1)
        window.row_stride *= step;
    return window;
}

int64_t csrconv_tile_window_bytes(const struct csrconv_tile_layout *layout,
                                  const struct csrconv_tile_window *window)
{
    const int64_t distance = least(window->row_stride, window->columns);
    return ((window->rows - 1) * distance + window->columns) * layout->phases_h * layout->phases_w *
           layout->element * (int64_t)sizeof(float);
}
