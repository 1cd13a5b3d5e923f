#include "tiling.h"

#include "cpu_features.h"
#include "pad.h"

#include <math.h>

enum { CACHE_SETS = 64 };

static const int64_t sampled_filters = 32; /* enough to count segments by */

static const double loads_per_cycle = 2.0;
static const double line_cycles = 2.0;          /* from the second cache */
static const double second_cache_bytes = 28.0;  /* a cycle */
static const double segment_cycles = 14.0;      /* a loop that ends at a number of its own */
static const double vector_sum_cycles = 1.1;    /* sums taken up and put down again */
static const double input_cycles = 0.8;         /* to lay a float out */
static const double output_cycles = 0.8;        /* to store one, the images one after the other */
static const double spread_output_cycles = 3.2; /* the same into a vector of images at once */
static const double row_output_cycles = 2.2;    /* and that in whole rows */
static const double sums_share = 0.5;           /* of the second cache, for the sums of a chunk */
static const int64_t most_group = 8;            /* tiles: enough for whole rows */

static int64_t even_share(int64_t whole, int64_t most)
{
    const int64_t shares = (whole + most - 1) / most;
    return (whole + shares - 1) / shares;
}

/* Tiles of the same size, as few as fit the registers. */
static void cut_positions(struct csrconv_tiling *t, const struct csrconv_tile_isa *isa)
{
    const int64_t vectors = t->layout.vectors;
    t->rows = 1;
    t->row_tiles = 0;
    t->tile_vectors = even_share(vectors, isa->most_vectors);
    t->tiles = (vectors + t->tile_vectors - 1) / t->tile_vectors;
}

static void cut_rows(struct csrconv_tiling *t, const struct csrconv_shape *shape,
                     const struct csrconv_tile_isa *isa, int64_t rows)
{
    const int64_t columns = even_share(shape->out_w, isa->most_vectors / rows);
    t->rows = rows;
    t->row_tiles = (shape->out_w + columns - 1) / columns;
    t->tile_vectors = rows * columns;
    t->tiles = t->row_tiles * ((shape->out_h + rows - 1) / rows);
}

/* The last rows reach back rather than beyond the end. */
static int64_t first_row(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                         int64_t i)
{
    const int64_t y = i / t->row_tiles * t->rows, last = shape->out_h - t->rows;
    return y < last ? y : last;
}

static int64_t first_column(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                            int64_t i)
{
    const int64_t columns = t->tile_vectors / t->rows;
    const int64_t x = i % t->row_tiles * columns, last = shape->out_w - columns;
    return x < last ? x : last;
}

int64_t csrconv_tiling_positions(const struct csrconv_tiling *t)
{
    return t->tile_vectors * t->layout.lanes / t->layout.element;
}

int64_t csrconv_tiling_load(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                            int64_t i)
{
    const int64_t size = csrconv_tiling_positions(t), last = t->layout.positions - size;
    if (t->row_tiles)
        return first_row(t, shape, i) * t->layout.pitch + first_column(t, shape, i);
    /* The last tile reaches back rather than beyond the end, where there is so much. */
    return i * size > last && last >= 0 ? last : i * size;
}

/*
 * In place there is nothing behind the last position, so the second half of a tile that is larger
 * than all of them starts within the first.
 */
int64_t csrconv_tiling_second(const struct csrconv_tiling *t)
{
    const int64_t size = csrconv_tiling_positions(t), half = (t->tile_vectors + 1) / 2;
    const int64_t overlap =
        t->layout.in_place && size > t->layout.positions ? size - t->layout.positions : 0;
    return t->rows > 1 ? t->layout.pitch : half * t->layout.lanes / t->layout.element - overlap;
}

/* Rows lie as in the output, so that they are stored in one go. */
int64_t csrconv_tiling_place(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                             int64_t first, int64_t i)
{
    if (!t->row_tiles)
        return (i - first) * csrconv_tiling_positions(t);
    return (first_row(t, shape, i) - first_row(t, shape, first)) * shape->out_w +
           first_column(t, shape, i);
}

int64_t csrconv_tiling_second_place(const struct csrconv_tiling *t,
                                    const struct csrconv_shape *shape)
{
    return t->rows > 1 ? shape->out_w : csrconv_tiling_second(t);
}

int64_t csrconv_tiling_places(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                              int64_t first, int64_t end)
{
    if (!t->row_tiles)
        return (end - first) * csrconv_tiling_positions(t);
    return (first_row(t, shape, end - 1) + t->rows - first_row(t, shape, first)) * shape->out_w;
}

/* Of tiles in rows: where the last ones reach back, they repeat sums of those before. */
static int64_t find_rows(const struct csrconv_tiling *t, const struct csrconv_shape *shape,
                         int64_t first, int64_t end, struct csrconv_stretch_of_row *stretch)
{
    const int64_t y = first / t->row_tiles * t->rows;
    const int64_t before = (y - first_row(t, shape, first)) * shape->out_w;
    stretch->position = (int32_t)before;
    stretch->length = (int32_t)(csrconv_tiling_places(t, shape, first, end) - before);
    stretch->output = y * shape->out_w;
    return 1;
}

int64_t csrconv_tiling_find_stretches(const struct csrconv_tiling *t,
                                      const struct csrconv_shape *shape, int64_t first, int64_t end,
                                      struct csrconv_stretch_of_row *stretches)
{
    const int64_t size = csrconv_tiling_positions(t);
    int64_t count = 0;
    if (t->row_tiles)
        return find_rows(t, shape, first, end, stretches);
    for (int64_t i = first; i < end; i++) {
        const int64_t load = csrconv_tiling_load(t, shape, i), begin = i * size;
        const int64_t stop = load + size < t->layout.positions ? load + size : t->layout.positions;
        count += csrconv_find_stretches(&t->layout, shape, begin, stop,
                                        (i - first) * size + begin - load, stretches + count);
    }
    return count;
}

int64_t csrconv_tiling_most_stretches(const struct csrconv_tiling *t)
{
    return csrconv_tiling_positions(t) / t->layout.pitch + 2;
}

int64_t csrconv_tiling_groups(const struct csrconv_tiling *t)
{
    return (t->tiles + t->group - 1) / t->group;
}

static struct csrconv_tile_window window_of(const struct csrconv_tiling *t,
                                            const struct csrconv_shape *shape)
{
    return csrconv_tile_window_of(&t->layout, shape, t->rows,
                                  csrconv_tiling_positions(t) / t->rows);
}

/* The most lines that any cache set gets from the windows of so many channels; in bytes. */
static int64_t fullest_set(const struct csrconv_tile_window *w, int64_t channels,
                           int64_t channel_stride)
{
    int64_t used[CACHE_SETS] = { 0 }, fullest = 0;
    for (int64_t c = 0; c < channels; c++) {
        int64_t line = c * channel_stride / CSRCONV_LINE_BYTES;
        for (int64_t row = 0; row < w->rows; row++) {
            const int64_t start = c * channel_stride + row * w->row_stride;
            if (line < start / CSRCONV_LINE_BYTES)
                line = start / CSRCONV_LINE_BYTES;
            for (; line * CSRCONV_LINE_BYTES < start + w->columns; line++)
                if (++used[line % CACHE_SETS] > fullest)
                    fullest = used[line % CACHE_SETS];
        }
    }
    return fullest;
}

/*
 * Channels whose planes lie a multiple of the cache's way apart would all fall into the same sets.
 * Moves them apart by as few lines as spread them best.
 */
static void spread_channels(struct csrconv_tiling *t, const struct csrconv_shape *shape)
{
    struct csrconv_tile_layout *l = &t->layout;
    const int64_t element = l->element * (int64_t)sizeof(float); /* bytes */
    const int64_t unit = element < CSRCONV_LINE_BYTES ? CSRCONV_LINE_BYTES / element : 1;
    const int64_t base = (l->channel_stride + unit - 1) / unit;
    struct csrconv_tile_window window = window_of(t, shape);
    int64_t best = 0, fullest = INT64_MAX;
    if (l->in_place)
        return;
    window.row_stride *= element;
    window.columns *= element;
    for (int64_t more = 0; more < 16; more++) {
        const int64_t full =
            fullest_set(&window, t->cut.block_channels, (base + more) * unit * element);
        if (full < fullest) {
            fullest = full;
            best = more;
        }
    }
    l->channel_stride = (base + best) * unit;
}

/* Cycles of one image block with blocks of so many channels. */
static double block_cycles(const struct csrconv_problem *problem, const struct csrconv_tiling *t,
                           const struct csrconv_tile_isa *isa, int64_t block_channels)
{
    const struct csrconv_shape *shape = &problem->shape;
    const struct csrconv_tile_window extent = window_of(t, shape);
    const double window = (double)csrconv_tile_window_bytes(&t->layout, &extent);
    const double channels = (double)shape->g.channels, vectors = (double)t->tile_vectors;
    const double nonzeros = (double)csrconv_nonzeros(problem->weights);
    const double segments = (double)csrconv_count_segments(problem->weights, shape, block_channels,
                                                           1 + shape->g.filters / sampled_filters);
    const double over = (double)block_channels * window / (double)csrconv_cache_bytes(1);
    const double load = t->layout.images_in_lanes ? 1.0 : isa->unaligned_load;
    /* A load from the second cache, in loads from the first. */
    const double far_load =
        (double)isa->lanes * (double)sizeof(float) / second_cache_bytes * loads_per_cycle;
    /* The second cache works beside the first: what it takes longer is waited for. */
    const double wait = far_load > load ? far_load - load : 0.0;
    const double misses = over > 1.0 ? wait * (1.0 - 1.0 / over) : 0.0;
    const double tile = nonzeros * (vectors * (load + misses) + 2.0) / loads_per_cycle +
                        segments * (segment_cycles + vectors * vector_sum_cycles) +
                        channels * window / CSRCONV_LINE_BYTES * line_cycles;
    const double output = (double)shape->out_image * (double)t->images;
    const double store = t->row_tiles                ? row_output_cycles
                         : t->layout.images_in_lanes ? spread_output_cycles
                                                     : output_cycles;
    const double input = (double)shape->padded_image * (double)t->images;
    return tile * (double)t->tiles + output * store +
           (t->layout.in_place ? 0.0 : input * input_cycles);
}

static void choose_block(const struct csrconv_problem *problem, const struct csrconv_tile_isa *isa,
                         struct csrconv_tiling *t)
{
    const int64_t channels = problem->shape.g.channels;
    t->cycles = HUGE_VAL;
    for (int64_t block = problem->without.channel_blocks ? channels : 2;;
         block += (block + 3) / 4) {
        const int64_t tried = block < channels ? block : channels;
        const double cycles = block_cycles(problem, t, isa, tried);
        if (cycles < t->cycles) {
            t->cycles = cycles;
            t->cut.block_channels = tried;
        }
        if (tried == channels)
            return;
    }
}

/* Whole rows are stored together. */
static int64_t least_group(const struct csrconv_tiling *t)
{
    return t->row_tiles ? t->row_tiles : 1;
}

/* How many tiles to store together. */
static void choose_group(const struct csrconv_problem *problem, double room, int64_t wanted,
                         int64_t blocks, struct csrconv_tiling *t)
{
    const int64_t least = least_group(t);
    t->group = (int64_t)room;
    if (t->group > blocks * t->tiles * t->cut.chunks / wanted)
        t->group = blocks * t->tiles * t->cut.chunks / wanted;
    if (t->group > most_group)
        t->group = most_group;
    if (problem->without.grouped_stores)
        t->group = 1;
    t->group = t->group / least * least;
    t->group = t->group < least ? least : t->group < t->tiles ? t->group : t->tiles;
}

/* Chunks small enough for their sums, and enough of them to keep all threads busy. */
static void choose_chunks(const struct csrconv_problem *problem, int64_t images,
                          struct csrconv_tiling *t)
{
    const int64_t filters = problem->shape.g.filters, threads = problem->team.threads;
    const int64_t blocks = (images + t->images - 1) / t->images;
    const int64_t tasks = blocks * t->tiles / least_group(t); /* of a chunk, at most */
    const double sums = (double)(t->tile_vectors * t->layout.lanes) * (double)sizeof(float);
    const int64_t wanted = threads > 1 ? 4 * threads : 1;
    const double room = sums_share * (double)csrconv_cache_bytes(2);
    int64_t chunks = (int64_t)ceil(sums * (double)(least_group(t) * filters) / room);
    if (tasks * chunks < wanted)
        chunks = (wanted + tasks - 1) / tasks;
    t->cut.chunks = chunks < filters ? chunks : filters;
    t->cut.is_as_they_come = problem->without.segment_order;
    choose_group(problem, room * (double)t->cut.chunks / (sums * (double)filters), wanted, blocks,
                 t);
    t->wave = wanted / (csrconv_tiling_groups(t) * t->cut.chunks);
    t->wave = t->wave < 1 ? 1 : t->wave < blocks ? t->wave : blocks;
}

static bool can_stay_in_place(const struct csrconv_shape *shape, const struct csrconv_tiling *t)
{
    const csrconv_geometry *g = &shape->g;
    return !t->layout.images_in_lanes && g->stride_h == 1 && g->stride_w == 1 &&
           !csrconv_has_padding(shape);
}

static bool can_cut_rows(const struct csrconv_problem *problem, const struct csrconv_tiling *t)
{
    return t->layout.images_in_lanes && problem->shape.out_h >= t->rows &&
           t->row_tiles <= most_group && (t->row_tiles == 1 || !problem->without.grouped_stores);
}

csrconv_status csrconv_tiling_choose(const struct csrconv_problem *problem,
                                     const struct csrconv_tile_isa *isa, bool images_in_lanes,
                                     int64_t images, struct csrconv_tiling *t)
{
    const struct csrconv_shape *shape = &problem->shape;
    struct csrconv_tiling in_rows;
    const csrconv_status status =
        csrconv_tile_layout_init(&t->layout, shape, isa->lanes, images_in_lanes);
    if (status)
        return status;
    t->images = images_in_lanes ? isa->lanes : 1;
    if (can_stay_in_place(shape, t)) {
        t->layout.in_place = true;
        t->layout.channel_stride = shape->plane;
    }
    in_rows = *t;
    cut_positions(t, isa);
    choose_block(problem, isa, t);
    for (int64_t rows = 1; rows <= 2; rows++) {
        cut_rows(&in_rows, shape, isa, rows);
        if (!can_cut_rows(problem, &in_rows))
            continue;
        choose_block(problem, isa, &in_rows);
        if (in_rows.cycles < t->cycles)
            *t = in_rows;
    }
    spread_channels(t, shape);
    choose_chunks(problem, images, t);
    return CSRCONV_OK;
}
