#include "tiling.h"

#include "cpu_features.h"
#include "pad.h"

#include <math.h>

enum { LINE_BYTES = 64, CACHE_SETS = 64 };

static const int64_t sampled_filters = 32; /* enough to count segments by */

static const double loads_per_cycle = 2.0;
static const double line_cycles = 2.0;          /* from the second cache */
static const double second_cache_bytes = 42.0;  /* a cycle */
static const double segment_cycles = 14.0;      /* a loop that ends at a number of its own */
static const double vector_sum_cycles = 1.1;    /* sums taken up and put down again */
static const double input_cycles = 0.8;         /* to lay a float out */
static const double output_cycles = 0.8;        /* to store one, the images one after the other */
static const double spread_output_cycles = 4.0; /* the same into a vector of images at once */
static const double sums_share = 0.5;           /* of the second cache, for the sums of a chunk */
static const int64_t most_group = 8;            /* tiles: enough for whole rows */

/* Tiles of the same size, as few as fit the registers. */
static void cut_tiles(struct csrconv_tiling *t, const struct csrconv_tile_isa *isa)
{
    const int64_t vectors = t->layout.vectors, most = isa->most_vectors;
    t->tiles = (vectors + most - 1) / most;
    t->tile_vectors = (vectors + t->tiles - 1) / t->tiles;
    t->tiles = (vectors + t->tile_vectors - 1) / t->tile_vectors;
}

int64_t csrconv_tiling_positions(const struct csrconv_tiling *t)
{
    return t->tile_vectors * t->layout.lanes / t->layout.element;
}

int64_t csrconv_tiling_load(const struct csrconv_tiling *t, int64_t i)
{
    const int64_t size = csrconv_tiling_positions(t), last = t->layout.positions - size;
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
    return half * t->layout.lanes / t->layout.element - overlap;
}

int64_t csrconv_tiling_groups(const struct csrconv_tiling *t)
{
    return (t->tiles + t->group - 1) / t->group;
}

/* The most lines that any cache set gets from the windows of so many channels. */
static int64_t fullest_set(int64_t channels, int64_t stride_lines, int64_t window_lines)
{
    int64_t used[CACHE_SETS] = { 0 }, fullest = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t line = 0; line < window_lines; line++) {
            const int64_t set = (c * stride_lines + line) % CACHE_SETS;
            if (++used[set] > fullest)
                fullest = used[set];
        }
    return fullest;
}

/*
 * Channels whose planes lie a multiple of the cache's way apart would all fall into the same sets.
 * Moves them apart by as few lines as spread them best.
 */
static void spread_channels(struct csrconv_tile_layout *l, int64_t channels, int64_t window_bytes)
{
    const int64_t line = LINE_BYTES / (l->element * (int64_t)sizeof(float));
    const int64_t unit = line > 0 ? line : 1; /* positions */
    const int64_t window = (window_bytes + LINE_BYTES - 1) / LINE_BYTES;
    const int64_t base = (l->channel_stride + unit - 1) / unit;
    const int64_t lines = unit * l->element * (int64_t)sizeof(float) / LINE_BYTES;
    int64_t best = 0, fullest = INT64_MAX;
    if (l->in_place)
        return;
    for (int64_t more = 0; more < 16; more++) {
        const int64_t full =
            fullest_set(channels, (base + more) * lines, window < CACHE_SETS ? window : CACHE_SETS);
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
    const double window = (double)csrconv_tile_window_bytes(&t->layout, shape, t->tile_vectors);
    const double channels = (double)shape->g.channels, vectors = (double)t->tile_vectors;
    const double nonzeros = (double)csrconv_nonzeros(problem->weights);
    const double segments = (double)csrconv_count_segments(problem->weights, shape, block_channels,
                                                           1 + shape->g.filters / sampled_filters);
    const double over = (double)block_channels * window / (double)csrconv_cache_bytes(1);
    /* Loads that cross a line count twice: without lanes of images all but one alignment do. */
    const double load = t->layout.images_in_lanes ? 1.0 : 1.0 + (double)isa->lanes / 16.0 * 0.8;
    /* A load from the second cache, in loads from the first. */
    const double far_load =
        (double)isa->lanes * (double)sizeof(float) / second_cache_bytes * loads_per_cycle;
    const double misses = over > 1.0 ? 1.0 + (far_load - 1.0) * (1.0 - 1.0 / over) : 1.0;
    const double tile = nonzeros * (vectors * load * misses + 2.0) / loads_per_cycle +
                        segments * (segment_cycles + vectors * vector_sum_cycles) +
                        channels * window / LINE_BYTES * line_cycles;
    const double output = (double)shape->out_image * (double)t->images;
    const double input = (double)shape->padded_image * (double)t->images;
    return tile * (double)t->tiles +
           output * (t->layout.images_in_lanes ? spread_output_cycles : output_cycles) +
           (t->layout.in_place ? 0.0 : input * input_cycles);
}

static void choose_block(const struct csrconv_problem *problem, const struct csrconv_tile_isa *isa,
                         struct csrconv_tiling *t)
{
    const int64_t channels = problem->shape.g.channels;
    t->cycles = HUGE_VAL;
    for (int64_t block = problem->without.channel_blocks ? channels : 2;;
         block = block + (block + 1) / 2) {
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

/* Chunks small enough for their sums, and enough of them to keep all threads busy. */
static void choose_chunks(const struct csrconv_problem *problem, int64_t images,
                          struct csrconv_tiling *t)
{
    const int64_t filters = problem->shape.g.filters, threads = problem->team.threads;
    const int64_t blocks = (images + t->images - 1) / t->images;
    const double sums = (double)(t->tile_vectors * t->layout.lanes) * (double)sizeof(float);
    const int64_t wanted = threads > 1 ? 4 * threads : 1;
    const double room = sums_share * (double)csrconv_cache_bytes(2);
    int64_t chunks = (int64_t)ceil(sums * (double)filters / room);
    if (blocks * t->tiles * chunks < wanted)
        chunks = (wanted + blocks * t->tiles - 1) / (blocks * t->tiles);
    t->cut.chunks = chunks < filters ? chunks : filters;
    t->cut.is_as_they_come = problem->without.segment_order;
    t->group = (int64_t)(room * (double)t->cut.chunks / (sums * (double)filters));
    if (t->group > blocks * t->tiles * t->cut.chunks / wanted)
        t->group = blocks * t->tiles * t->cut.chunks / wanted;
    if (problem->without.grouped_stores)
        t->group = 1;
    t->group = t->group < 1 ? 1 : t->group < most_group ? t->group : most_group;
    if (t->group > t->tiles)
        t->group = t->tiles;
    t->wave = wanted / (csrconv_tiling_groups(t) * t->cut.chunks);
    t->wave = t->wave < 1 ? 1 : t->wave < blocks ? t->wave : blocks;
}

static bool can_stay_in_place(const struct csrconv_shape *shape, const struct csrconv_tiling *t)
{
    const csrconv_geometry *g = &shape->g;
    return !t->layout.images_in_lanes && g->stride_h == 1 && g->stride_w == 1 &&
           !csrconv_has_padding(shape);
}

csrconv_status csrconv_tiling_choose(const struct csrconv_problem *problem,
                                     const struct csrconv_tile_isa *isa, bool images_in_lanes,
                                     int64_t images, struct csrconv_tiling *t)
{
    const struct csrconv_shape *shape = &problem->shape;
    const csrconv_status status =
        csrconv_tile_layout_init(&t->layout, shape, isa->lanes, images_in_lanes);
    if (status)
        return status;
    t->images = images_in_lanes ? isa->lanes : 1;
    cut_tiles(t, isa);
    if (can_stay_in_place(shape, t)) {
        t->layout.in_place = true;
        t->layout.channel_stride = shape->plane;
    }
    choose_block(problem, isa, t);
    spread_channels(&t->layout, t->cut.block_channels,
                    csrconv_tile_window_bytes(&t->layout, shape, t->tile_vectors));
    choose_chunks(problem, images, t);
    return CSRCONV_OK;
}
