#include "tile_pack.h"

#include "epilogue.h"

#include <math.h>
#include <string.h>

enum { MOST_LANES = 16 };

/* A row of a phase plane: cells [first, end) come from the input, the others are border. */
struct row {
    int64_t first, end;
    int64_t source; /* of cell `first`, in the input row */
    int64_t step;   /* in the input row, from a cell to the next */
};

/* The cells of column phase j, as far as they are the same in every row. */
static struct row describe_columns(const struct csrconv_tile_layout *l,
                                   const struct csrconv_shape *shape, int64_t j)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t shift = j * g->dilation_w % g->stride_w - g->pad_left;
    const int64_t step = g->stride_w;
    struct row row = { 0, 0, 0, step };
    row.first = shift < 0 ? (-shift + step - 1) / step : 0;
    row.end = shift < g->width ? (g->width - shift + step - 1) / step : 0;
    if (row.end > l->pitch)
        row.end = l->pitch;
    if (row.first >= row.end)
        row.first = row.end = 0;
    row.source = row.first * step + shift;
    return row;
}

static void copy_cells(const struct row *row, const struct csrconv_tile_isa *isa, const float *from,
                       float *to)
{
    const int64_t cells = row->end - row->first;
    if (row->step == 1)
        isa->finish(from, NULL, -INFINITY, INFINITY, cells, to);
    else
        for (int64_t i = 0; i < cells; i++)
            to[i] = from[i * row->step];
}

/* Some images, one in a lane each; the lanes without an image become zero. */
static void spread_cells(const struct row *row, const struct csrconv_image_block *block,
                         int64_t lanes, const float *from, float *to)
{
    const int64_t stride = block->run->shape->g.in_batch_stride;
    for (int64_t cell = 0; cell < row->end - row->first; cell++)
        for (int64_t lane = 0; lane < lanes; lane++)
            to[cell * lanes + lane] =
                lane < block->count ? from[lane * stride + cell * row->step] : 0.0F;
}

/* Of 8 or 16 floats: sizes that the compiler knows are copied without a call. */
static void copy_vector(const float *from, int64_t lanes, float *to)
{
    memcpy(to, from, 8 * sizeof *to);
    if (lanes == MOST_LANES)
        memcpy(to + 8, from + 8, 8 * sizeof *to);
}

/* Cells that do not follow each other in the input: whole squares, of which some are kept. */
static void transpose_some_cells(const struct row *row, const struct csrconv_image_block *block,
                                 const struct csrconv_tile_isa *isa, const float *from, float *to)
{
    float square[MOST_LANES * MOST_LANES];
    const int64_t lanes = isa->lanes, stride = block->run->shape->g.in_batch_stride;
    const int64_t span = (row->end - row->first - 1) * row->step + 1;
    int64_t cell = 0;
    for (int64_t at = 0; at < span; at += lanes) {
        const int64_t columns = span - at < lanes ? span - at : lanes;
        isa->transpose(from + at, stride, columns, square, lanes);
        for (int64_t i = cell * row->step - at; i < columns; i += row->step)
            copy_vector(square + i * lanes, lanes, to + cell++ * lanes);
    }
}

static void transpose_cells(const struct row *row, const struct csrconv_image_block *block,
                            const struct csrconv_tile_isa *isa, const float *from, float *to)
{
    const int64_t lanes = isa->lanes, cells = row->end - row->first;
    const int64_t stride = block->run->shape->g.in_batch_stride;
    if (block->count < lanes || row->step > lanes) {
        spread_cells(row, block, lanes, from, to);
    } else if (row->step > 1) {
        transpose_some_cells(row, block, isa, from, to);
    } else {
        for (int64_t at = 0; at < cells; at += lanes)
            isa->transpose(from + at, stride, cells - at < lanes ? cells - at : lanes,
                           to + at * lanes, lanes);
    }
}

/* The rows of one phase plane of a channel that hold input; y is that of the first row. */
static void pack_plane(const struct csrconv_tile_layout *l, const struct csrconv_tile_isa *isa,
                       const struct csrconv_image_block *block, const struct row *row, int64_t y,
                       const float *plane, float *to)
{
    const csrconv_geometry *g = &block->run->shape->g;
    to += row->first * l->element;
    for (int64_t q = 0; q < l->rows; q++, y += g->stride_h, to += l->pitch * l->element) {
        if (y < 0 || y >= g->height)
            continue;
        if (l->images_in_lanes)
            transpose_cells(row, block, isa, plane + y * g->width + row->source, to);
        else
            copy_cells(row, isa, plane + y * g->width + row->source, to);
    }
}

void csrconv_pack_channels(const struct csrconv_tile_layout *l, const struct csrconv_tile_isa *isa,
                           const struct csrconv_image_block *block, int64_t begin, int64_t end,
                           float *to)
{
    const struct csrconv_shape *shape = block->run->shape;
    const csrconv_geometry *g = &shape->g;
    const float *planes = block->run->in + block->first * g->in_batch_stride + begin * shape->plane;
    const int64_t channel = l->channel_stride * l->element;
    memset(to, 0, (size_t)((end - begin) * channel) * sizeof *to); /* borders stay */
    for (int64_t phase = 0; phase < l->phases_h * l->phases_w; phase++) {
        const struct row row = describe_columns(l, shape, phase % l->phases_w);
        const int64_t y = phase / l->phases_w * g->dilation_h % g->stride_h - g->pad_top;
        float *plane = to + phase * l->plane_stride * l->element;
        for (int64_t c = 0; c < end - begin && row.first < row.end; c++)
            pack_plane(l, isa, block, &row, y, planes + c * shape->plane, plane + c * channel);
    }
}

int64_t csrconv_find_stretches(const struct csrconv_tile_layout *l,
                               const struct csrconv_shape *shape, int64_t begin, int64_t end,
                               int64_t position, struct csrconv_stretch_of_row *stretches)
{
    int64_t count = 0;
    for (int64_t at = begin; at < end;) {
        const int64_t y = at / l->pitch, x = at % l->pitch;
        int64_t length = shape->out_w - x;
        if (length > end - at)
            length = end - at;
        if (length > 0)
            stretches[count++] =
                (struct csrconv_stretch_of_row){ (int32_t)(position + at - begin), (int32_t)length,
                                                 y * shape->out_w + x };
        at += l->pitch - x;
    }
    return count;
}

/* The sums of one image, in the order of positions. */
static void store_image(const struct csrconv_run *run, const struct csrconv_stored *stored,
                        int64_t plane, const float *sums)
{
    float lo, hi;
    csrconv_activation_bounds(run->epilogue, &lo, &hi);
    for (int64_t i = 0; i < stored->count; i++) {
        const struct csrconv_stretch_of_row *stretch = &stored->stretches[i];
        const int64_t at = plane + stretch->output;
        stored->finish(sums + stretch->position, run->residual ? run->residual + at : NULL, lo, hi,
                       stretch->length, run->out + at);
    }
}

void csrconv_store_sums(const struct csrconv_tile_layout *l, const struct csrconv_tile_isa *isa,
                        const struct csrconv_image_block *block,
                        const struct csrconv_stored *stored, int64_t m)
{
    const struct csrconv_run *run = block->run;
    const struct csrconv_shape *shape = run->shape;
    const int64_t lanes = l->lanes;
    const int64_t row = (stored->vectors + lanes - 1) / lanes * lanes;
    const int64_t plane = block->first * shape->g.out_batch_stride + m * shape->out_plane;
    if (!l->images_in_lanes) {
        store_image(run, stored, plane, stored->sums);
        return;
    }
    for (int64_t p = 0; p < stored->vectors; p += lanes)
        isa->transpose(stored->sums + p * lanes, lanes, lanes, stored->spare + p, row);
    for (int64_t i = 0; i < block->count; i++)
        store_image(run, stored, plane + i * shape->g.out_batch_stride, stored->spare + i * row);
}
