#include "lowering.h"

#include "checked.h"
#include "im2col.h"

#include <inttypes.h>

static const int64_t most_bytes = INT64_C(2) << 30;

/* Rows begin at sectors of 32 bytes, which vector loads and full stores want. */
enum { ROW_FLOATS = 8, PART_BYTES = 256 };

static int64_t row_of(int64_t floats)
{
    return (floats + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
}

static void set_lowered(const struct csrconv_shape *shape, struct csrconv_lowering *l)
{
    const int64_t columns = shape->g.groups * shape->columns;
    if (l->is_in_place) {
        l->lowered = (struct csrconv_strides){ shape->g.in_batch_stride, shape->plane, 1 };
        l->lowered_floats = 0;
    } else if (l->way == CSRCONV_LOWER_IMAGES) {
        const int64_t row = row_of(shape->out_plane);
        l->lowered = (struct csrconv_strides){ columns * row, row, 1 };
        l->lowered_floats = l->images * columns * row;
    } else if (l->way == CSRCONV_LOWER_WIDE) {
        const int64_t row = row_of(l->images * shape->out_plane);
        l->lowered = (struct csrconv_strides){ shape->out_plane, row, 1 };
        l->lowered_floats = columns * row;
    } else {
        const int64_t row = row_of(columns);
        l->lowered = (struct csrconv_strides){ shape->out_plane * row, 1, row };
        l->lowered_floats = l->images * shape->out_plane * row;
    }
}

static void set_product(const struct csrconv_shape *shape, struct csrconv_lowering *l)
{
    if (l->way == CSRCONV_LOWER_WIDE || l->way == CSRCONV_LOWER_PIXELS_WIDE) {
        const int64_t row = row_of(l->images * shape->out_plane);
        l->product = (struct csrconv_strides){ shape->out_plane, row, 1 };
        l->product_floats = shape->g.filters * row;
    } else if (l->way == CSRCONV_LOWER_PIXELS_NHWC) {
        const int64_t row = row_of(shape->g.filters);
        l->product = (struct csrconv_strides){ shape->out_plane * row, 1, row };
        l->product_floats = l->images * shape->out_plane * row;
    } else {
        l->product = (struct csrconv_strides){ shape->g.out_batch_stride, shape->out_plane, 1 };
        l->product_floats = 0;
    }
}

void csrconv_lowering_init(const struct csrconv_shape *shape, enum csrconv_lowering_way way,
                           int64_t images, struct csrconv_lowering *lowering)
{
    lowering->way = way;
    lowering->is_in_place = way == CSRCONV_LOWER_IMAGES && csrconv_im2col_is_identity(shape);
    lowering->images = images;
    set_lowered(shape, lowering);
    set_product(shape, lowering);
}

/* Bytes of the lowered matrix of an image, in the larger of its layouts. */
static int64_t image_bytes(const struct csrconv_shape *shape)
{
    const int64_t columns = shape->g.groups * shape->columns;
    const int64_t by_column = columns * row_of(shape->out_plane);
    const int64_t by_pixel = row_of(columns) * shape->out_plane;
    return (by_column > by_pixel ? by_column : by_pixel) * (int64_t)sizeof(float);
}

int64_t csrconv_piece_of(int64_t all, int64_t most, int64_t step)
{
    const int64_t pieces = (all - 1) / most + 1;
    const int64_t piece = (all - 1) / pieces + 1;
    return pieces == 1 ? all : (piece + step - 1) / step * step;
}

static int64_t images_within(const struct csrconv_shape *shape, int64_t bytes)
{
    const int64_t fit = bytes / image_bytes(shape);
    return csrconv_piece_of(shape->g.batch, fit < 1 ? 1 : fit, 1);
}

/* Of one image, a product per image and one over all images are the same. */
static bool is_worth_it(enum csrconv_lowering_way way, int64_t images)
{
    return images > 1 || (way != CSRCONV_LOWER_WIDE && way != CSRCONV_LOWER_PIXELS_WIDE);
}

int csrconv_lowering_candidates(const struct csrconv_shape *shape,
                                const enum csrconv_lowering_way *ways, int count,
                                int64_t cache_bytes, struct csrconv_lowering *found)
{
    const int64_t whole = images_within(shape, most_bytes);
    const int64_t cached = images_within(shape, cache_bytes);
    int n = 0;
    for (int i = 0; i < count; i++) {
        struct csrconv_lowering *l = &found[n];
        csrconv_lowering_init(shape, ways[i], whole, l);
        if (l->is_in_place)
            csrconv_lowering_init(shape, ways[i], shape->g.batch, l);
        if (!is_worth_it(ways[i], l->images))
            continue;
        n++;
        if (l->is_in_place || cached >= whole || !is_worth_it(ways[i], cached))
            continue;
        csrconv_lowering_init(shape, ways[i], cached, &found[n]);
        n++;
    }
    return n;
}

bool csrconv_lowering_is_whole(const struct csrconv_lowering *lowering,
                               const struct csrconv_shape *shape)
{
    return !lowering->is_in_place && lowering->images >= shape->g.batch;
}

static size_t part_bytes(int64_t floats)
{
    return ((size_t)floats * sizeof(float) + PART_BYTES - 1) / PART_BYTES * PART_BYTES;
}

size_t csrconv_lowering_product_at(const struct csrconv_lowering *lowering)
{
    return part_bytes(lowering->lowered_floats);
}

size_t csrconv_lowering_bytes(const struct csrconv_lowering *lowering)
{
    return csrconv_lowering_product_at(lowering) + part_bytes(lowering->product_floats);
}

const char *csrconv_lowering_name(const struct csrconv_lowering *lowering)
{
    static const char *const names[] = {
        [CSRCONV_LOWER_IMAGES] = "[n][crs][pq]>[n][m][pq]",
        [CSRCONV_LOWER_WIDE] = "[crs][npq]>[m][npq]",
        [CSRCONV_LOWER_PIXELS] = "[npq][crs]>[n][m][pq]",
        [CSRCONV_LOWER_PIXELS_WIDE] = "[npq][crs]>[m][npq]",
        [CSRCONV_LOWER_PIXELS_NHWC] = "[npq][crs]>[npq][m]",
    };
    return lowering->is_in_place ? "input in place>[n][m][pq]" : names[lowering->way];
}

csrconv_status csrconv_lowering_refuse(const struct csrconv_shape *shape)
{
    const int64_t most_floats = INT64_C(1) << 40;
    int64_t columns, floats;
    if (!csrconv_multiply_overflows(shape->g.groups, shape->columns, &columns) &&
        !csrconv_multiply_overflows(columns, shape->out_plane, &floats) && floats <= most_floats)
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                        "the lowered matrix of an image, %" PRId64 " groups of %" PRId64
                        " x %" PRId64 " floats, is larger than any GPU's memory",
                        shape->g.groups, shape->columns, shape->out_plane);
}
