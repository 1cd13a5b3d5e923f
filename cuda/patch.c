#include "patch.h"

#include "integers.h"

static const int64_t most_floats = 1 << 16; /* 256 KB */

/* Rows or columns of a convolution alike. */
struct axis {
    int64_t size, pad, kernel, stride, dilation;
};

static struct axis rows_of(const struct csrconv_shape *shape)
{
    const csrconv_geometry *g = &shape->g;
    return (struct axis){ g->height, g->pad_top, g->kernel_h, g->stride_h, g->dilation_h };
}

static struct axis columns_of(const struct csrconv_shape *shape)
{
    const csrconv_geometry *g = &shape->g;
    return (struct axis){ g->width, g->pad_left, g->kernel_w, g->stride_w, g->dilation_w };
}

static int64_t reach(const struct axis *axis)
{
    return (axis->kernel - 1) * axis->dilation;
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Weight k meets phase k * dilation mod stride, and so does weight k + period: plane k mod period.
 */
static int64_t period_of(const struct axis *axis)
{
    return axis->stride / divisor(axis->stride, axis->dilation);
}

static int64_t count_phases(const struct axis *axis)
{
    return csrconv_smaller(axis->kernel, period_of(axis));
}

int64_t csrconv_patch_widest(const struct csrconv_shape *shape, int64_t columns)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t sizes = g->width | g->in_batch_stride;
    if (columns < shape->out_w || g->stride_w > 1)
        return 1;
    return sizes % 4 == 0 ? 4 : sizes % 2 == 0 ? 2 : 1;
}

/*
 * From a line of `extent` to the next, the first `pad` of which are border: where the tile takes
 * in the whole axis and no stride splits it, the border after one line is that before the next.
 * Outputs stay apart, and what is copied into a line ends in whole vectors.
 */
static int64_t shared_pitch(const struct axis *axis, int64_t outputs, int64_t extent, bool is_whole,
                            int64_t vector)
{
    const int64_t pad = csrconv_smaller(axis->pad, extent);
    const int64_t inside = csrconv_smaller(axis->size, extent - pad);
    if (!is_whole || axis->stride > 1)
        return extent;
    return csrconv_larger(outputs,
                          csrconv_larger(extent - pad, pad + csrconv_round_up(inside, vector)));
}

bool csrconv_patch_make(const struct csrconv_shape *shape, int64_t images, int64_t rows,
                        int64_t columns, int64_t vector, struct csrconv_patch *patch)
{
    const struct axis h = rows_of(shape), w = columns_of(shape);
    struct csrconv_patch p = {
        .images = images, .rows = rows, .columns = columns, .vector = vector
    };
    int64_t down, across;
    if (reach(&h) >= most_floats || reach(&w) >= most_floats || h.stride > most_floats ||
        w.stride > most_floats || images > most_floats)
        return false;
    p.height = (rows - 1) * h.stride + reach(&h) + 1;
    p.width = (columns - 1) * w.stride + reach(&w) + 1;
    p.row_phases = count_phases(&h);
    p.column_phases = count_phases(&w);
    /* Of one phase. */
    down = rows + reach(&h) / h.stride;
    across = columns + reach(&w) / w.stride;
    if (down * across > most_floats)
        return false;
    p.lead = csrconv_round_up(w.pad, vector) - w.pad;
    p.pitch = csrconv_round_up(shared_pitch(&w, columns, across, columns == shape->out_w, vector),
                               vector);
    p.image_pitch = p.pitch * shared_pitch(&h, rows, down, rows == shape->out_h, 1);
    /* The last row may read beyond its pitch, and the last copy bring more than a row. */
    p.plane = (images - 1) * p.image_pitch + (down - 1) * p.pitch + p.lead +
              csrconv_round_up(csrconv_larger(across, p.pitch), vector);
    p.plane = csrconv_round_up(p.plane, vector);
    p.channel = p.plane * p.row_phases * p.column_phases;
    p.span = (images - 1) * p.image_pitch + (rows - 1) * p.pitch + columns;
    *patch = p;
    return p.channel <= most_floats;
}

int64_t csrconv_patch_offset(const struct csrconv_shape *shape, const struct csrconv_patch *patch,
                             int64_t r, int64_t s)
{
    const struct axis h = rows_of(shape), w = columns_of(shape);
    const int64_t phase = r % period_of(&h) * patch->column_phases + s % period_of(&w);
    return patch->lead + phase * patch->plane + r * h.dilation / h.stride * patch->pitch +
           s * w.dilation / w.stride;
}

/* The first period's weights meet all phases that are met. */
static void phase_offsets(const struct axis *axis, int64_t step, int32_t *offsets)
{
    for (int64_t phase = 0; phase < axis->stride; phase++)
        offsets[phase] = -1;
    for (int64_t k = 0; k < count_phases(axis); k++)
        offsets[k * axis->dilation % axis->stride] = (int32_t)(k * step);
}

void csrconv_patch_row_phases(const struct csrconv_shape *shape, const struct csrconv_patch *patch,
                              int32_t *offsets)
{
    const struct axis h = rows_of(shape);
    phase_offsets(&h, patch->column_phases * patch->plane, offsets);
}

void csrconv_patch_column_phases(const struct csrconv_shape *shape,
                                 const struct csrconv_patch *patch, int32_t *offsets)
{
    const struct axis w = columns_of(shape);
    phase_offsets(&w, patch->plane, offsets);
}

void csrconv_patch_places(const struct csrconv_patch *patch, int64_t words, int32_t *places)
{
    for (int64_t i = 0; i < words; i++) {
        const int64_t image = csrconv_smaller(i / patch->image_pitch, patch->images - 1);
        const int64_t within = i - image * patch->image_pitch;
        const int64_t row = within / patch->pitch, column = within % patch->pitch;
        places[i] = row < patch->rows && column < patch->columns
                        ? (int32_t)(image << 20 | row << 10 | column)
                        : -1;
    }
}
