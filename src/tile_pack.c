#include "tile_pack.h"

#include "epilogue.h"

#include <string.h>

/* One row of a phase plane: cells [first, end) come from the input, the others are border. */
struct row {
    int64_t first, end;
    int64_t source; /* of cell `first`, in the input plane */
    int64_t step;   /* in the input row, from a cell to the next */
};

static void clear(float *to, int64_t floats)
{
    memset(to, 0, (size_t)floats * sizeof *to);
}

/* The cells of column phase j in row q of row phase i. */
static struct row describe_row(const struct csrconv_tile_layout *l,
                               const struct csrconv_shape *shape, int64_t i, int64_t j, int64_t q)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t y = q * g->stride_h + i * g->dilation_h % g->stride_h - g->pad_top;
    const int64_t shift = j * g->dilation_w % g->stride_w - g->pad_left;
    const int64_t step = g->stride_w;
    struct row row = { 0, 0, 0, step };
    if (y < 0 || y >= g->height)
        return row;
    row.first = shift < 0 ? (-shift + step - 1) / step : 0;
    row.end = shift < g->width ? (g->width - shift + step - 1) / step : 0;
    if (row.end > l->pitch)
        row.end = l->pitch;
    if (row.first >= row.end)
        row.first = row.end = 0;
    row.source = y * g->width + row.first * step + shift;
    return row;
}

static void copy_cells(const struct row *row, const float *from, float *to)
{
    const int64_t cells = row->end - row->first;
    if (row->step == 1)
        memcpy(to, from, (size_t)cells * sizeof *to);
    else
        for (int64_t i = 0; i < cells; i++)
            to[i] = from[i * row->step];
}

/* Some images, one in a lane each; the lanes without an image become zero. */
static void spread_cells(const struct row *row, const struct csrconv_image_block *block,
                         int64_t lanes, const float *from, float *to, int64_t begin)
{
    const int64_t stride = block->run->shape->g.in_batch_stride;
    for (int64_t cell = begin; cell < row->end - row->first; cell++)
        for (int64_t lane = 0; lane < lanes; lane++)
            to[cell * lanes + lane] =
                lane < block->count ? from[lane * stride + cell * row->step] : 0.0F;
}

/* The same where whole squares of cells and images can be turned around. */
static void transpose_cells(const struct row *row, const struct csrconv_image_block *block,
                            const struct csrconv_tile_isa *isa, const float *from, float *to)
{
    const int64_t lanes = isa->lanes, cells = row->end - row->first;
    const int64_t stride = block->run->shape->g.in_batch_stride;
    int64_t cell = 0;
    if (row->step == 1 && block->count == lanes && cells >= lanes) {
        for (; cell + lanes <= cells; cell += lanes)
            isa->transpose(from + cell, stride, to + cell * lanes, lanes);
        if (cell < cells) /* once more, up to the end */
            isa->transpose(from + cells - lanes, stride, to + (cells - lanes) * lanes, lanes);
        return;
    }
    spread_cells(row, block, lanes, from, to, cell);
}

static void pack_row(const struct csrconv_tile_layout *l, const struct csrconv_tile_isa *isa,
                     const struct csrconv_image_block *block, const struct row *row,
                     const float *plane, float *to)
{
    const int64_t element = l->element;
    clear(to, row->first * element);
    if (l->images_in_lanes)
        transpose_cells(row, block, isa, plane + row->source, to + row->first * element);
    else
        copy_cells(row, plane + row->source, to + row->first);
    clear(to + row->end * element, (l->pitch - row->end) * element);
}

void csrconv_pack_channel(const struct csrconv_tile_layout *l, const struct csrconv_tile_isa *isa,
                          const struct csrconv_image_block *block, int64_t c, float *to)
{
    const struct csrconv_shape *shape = block->run->shape;
    const float *plane =
        block->run->in + block->first * shape->g.in_batch_stride + c * shape->plane;
    const int64_t tail = l->plane_stride - l->rows * l->pitch;
    float *const start = to;
    for (int64_t i = 0; i < l->phases_h; i++) {
        for (int64_t j = 0; j < l->phases_w; j++) {
            for (int64_t q = 0; q < l->rows; q++, to += l->pitch * l->element) {
                const struct row row = describe_row(l, shape, i, j, q);
                pack_row(l, isa, block, &row, plane, to);
            }
            clear(to, tail * l->element);
            to += tail * l->element;
        }
    }
    clear(to, l->channel_stride * l->element - (to - start));
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

static void store_stretch(const csrconv_epilogue *epilogue, const float *from,
                          const float *residual, int64_t length, float *to)
{
    if (residual)
        for (int64_t i = 0; i < length; i++)
            to[i] = csrconv_activate(epilogue, from[i] + residual[i]);
    else if (epilogue->activation != CSRCONV_ACTIVATION_NONE)
        for (int64_t i = 0; i < length; i++)
            to[i] = csrconv_activate(epilogue, from[i]);
    else
        memcpy(to, from, (size_t)length * sizeof *to);
}

/* The sums of one image, in the order of positions. */
static void store_image(const struct csrconv_run *run, const struct csrconv_stored *stored,
                        int64_t plane, const float *sums)
{
    for (int64_t i = 0; i < stored->count; i++) {
        const struct csrconv_stretch_of_row *stretch = &stored->stretches[i];
        const int64_t at = plane + stretch->output;
        store_stretch(run->epilogue, sums + stretch->position,
                      run->residual ? run->residual + at : NULL, stretch->length, run->out + at);
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
        isa->transpose(stored->sums + p * lanes, lanes, stored->spare + p, row);
    for (int64_t i = 0; i < block->count; i++)
        store_image(run, stored, plane + i * shape->g.out_batch_stride, stored->spare + i * row);
}
