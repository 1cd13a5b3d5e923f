#include "tile_tables.h"

#include "tile_search.h"

static const int64_t most_sources = 1 << 22; /* 16 MB */

int64_t csrconv_tile_sources(const struct csrconv_shape *shape, const struct csrconv_patch *patch)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t rows = csrconv_row_tiles(shape, patch);
    const int64_t columns = csrconv_column_tiles(shape, patch);
    const int64_t stride =
        g->in_batch_stride > g->out_batch_stride ? g->in_batch_stride : g->out_batch_stride;
    if (rows > most_sources || columns > most_sources ||
        rows * columns > most_sources / patch->channel || stride > INT32_MAX / patch->images)
        return -1;
    return rows * columns * patch->channel;
}

/* A tile's first output, and its tables. */
struct tile {
    int64_t row, column;
    int32_t *source, *output;
};

/* The rows and columns of an image's patch that lie in the image, where a weight meets them. */
struct axes {
    int32_t *row_phases, *column_phases;
};

static void fill_row(const struct csrconv_shape *shape, const struct csrconv_patch *p,
                     const struct axes *axes, const struct tile *tile, int64_t image, int64_t row)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t y = tile->row * g->stride_h - g->pad_top + row;
    const int64_t left = tile->column * g->stride_w - g->pad_left;
    const int64_t down = axes->row_phases[row % g->stride_h];
    for (int64_t column = 0; column < p->width; column++) {
        const int64_t x = left + column, across = axes->column_phases[column % g->stride_w];
        if (x < 0 || x >= g->width || across < 0)
            continue;
        tile->source[image * p->image_pitch + down + across + row / g->stride_h * p->pitch +
                     column / g->stride_w] =
            (int32_t)(image * g->in_batch_stride + y * g->width + x);
    }
}

static void fill_source(const struct csrconv_shape *shape, const struct csrconv_patch *p,
                        const struct axes *axes, const struct tile *tile)
{
    const csrconv_geometry *g = &shape->g;
    for (int64_t i = 0; i < p->channel; i++)
        tile->source[i] = -1;
    for (int64_t image = 0; image < p->images; image++)
        for (int64_t row = 0; row < p->height; row++) {
            const int64_t y = tile->row * g->stride_h - g->pad_top + row;
            if (y >= 0 && y < g->height && axes->row_phases[row % g->stride_h] >= 0)
                fill_row(shape, p, axes, tile, image, row);
        }
}

static void fill_output(const struct csrconv_shape *shape, const struct csrconv_patch *p,
                        int64_t words, const struct tile *tile)
{
    csrconv_patch_places(p, words, tile->output);
    for (int64_t i = 0; i < words; i++) {
        const int32_t place = tile->output[i];
        const int64_t image = place >> 20;
        const int64_t y = tile->row + (place >> 10 & 1023), x = tile->column + (place & 1023);
        const bool is_outside = place < 0 || y >= shape->out_h || x >= shape->out_w;
        tile->output[i] =
            is_outside ? -1 : (int32_t)(image * shape->g.out_batch_stride + y * shape->out_w + x);
    }
}

static void fill_tables(const struct csrconv_shape *shape, const struct csrconv_patch *patch,
                        int64_t words, const struct axes *axes, struct csrconv_tile_tables *tables)
{
    struct tile tile = { .source = tables->source, .output = tables->output };
    for (tile.row = 0; tile.row < shape->out_h; tile.row += patch->rows)
        for (tile.column = 0; tile.column < shape->out_w; tile.column += patch->columns) {
            fill_source(shape, patch, axes, &tile);
            fill_output(shape, patch, words, &tile);
            tile.source += patch->channel;
            tile.output += words;
        }
}

csrconv_status csrconv_tile_tables_make(const struct csrconv_shape *shape,
                                        const struct csrconv_patch *patch, int64_t words,
                                        struct csrconv_memory *memory,
                                        struct csrconv_tile_tables *tables)
{
    const int64_t rows = shape->g.stride_h, columns = shape->g.stride_w;
    struct axes axes;
    csrconv_status status;
    *tables = (struct csrconv_tile_tables){ .sources = csrconv_tile_sources(shape, patch) };
    tables->outputs = tables->sources / patch->channel * words;
    if ((status = csrconv_allocate(memory, tables->sources, sizeof *tables->source,
                                   (void **)&tables->source)) ||
        (status = csrconv_allocate(memory, tables->outputs, sizeof *tables->output,
                                   (void **)&tables->output)) ||
        (status = csrconv_allocate(memory, rows + columns, sizeof *axes.row_phases,
                                   (void **)&axes.row_phases)))
        return status;
    axes.column_phases = axes.row_phases + rows;
    csrconv_patch_row_phases(shape, patch, axes.row_phases);
    csrconv_patch_column_phases(shape, patch, axes.column_phases);
    fill_tables(shape, patch, words, &axes, tables);
    csrconv_release(memory, axes.row_phases);
    return CSRCONV_OK;
}

void csrconv_tile_tables_free(const struct csrconv_memory *memory,
                              struct csrconv_tile_tables *tables)
{
    csrconv_release(memory, tables->source);
    csrconv_release(memory, tables->output);
    *tables = (struct csrconv_tile_tables){ 0 };
}
