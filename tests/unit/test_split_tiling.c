/*
 * What host code prepares for cuda_split, run on the CPU: blocks fill their patches word by word,
 * their warps walk the lists as the kernel does, quadruples of sums go where the kernel gives them,
 * and every output must come out once and right.
 */
#include "exact_layer.h"

#include "chunk_lists.h"
#include "split_tiling.h"
#include "tile_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, KEPT = 6, LARGE = 227 * 1024, LANES = CSRCONV_LANES };

static const struct csrconv_split_machine machines[] = {
    { { 132, LARGE, 228 * 1024, 1.98 },
      CSRCONV_ADD_IN_CLUSTER,
      { 0, 132, 66, 39, 30, 22, 17, 15, 15 } },
    { { 40, 64 * 1024, 64 * 1024, 1.5 }, CSRCONV_ADD_IN_PASS, { 0 } },
    { { 3, 6 * 1024, 9 * 1024, 1.0 }, CSRCONV_ADD_IN_PASS, { 0 } }, /* no such GPU: small */
};

static const double spare = 4.0; /* of these small lists */

/* A block at work: its tile, its chunk, and its shared memory. */
struct block {
    const struct exact_layer *data;
    const struct csrconv_split_tiling *split;
    const struct csrconv_chunk_lists *lists;
    const struct csrconv_tile_tables *tables;
    int64_t filter_tile, chunk, tile, image; /* tile: of an image's plane */
    float *stage;
    float *units; /* of all chunks: chunk, unit, lane, output; NAN until given */
};

static const struct csrconv_block_kernel *kernel_of(const struct block *b)
{
    return &csrconv_block_kernels[b->split->block.kernel];
}

static const uint32_t *list_of(const struct block *b)
{
    return b->lists->quads[(b->filter_tile * b->split->block.stages + b->chunk) * b->lists->pitch]
        .word;
}

/* The words of a channel as threads fill them. */
static void fill_channel(const struct block *b, int64_t channel, float *stage)
{
    const struct csrconv_shape *shape = &b->data->problem.shape;
    const int64_t words = b->split->block.patch.channel, stride = shape->g.in_batch_stride;
    const int32_t *source = b->tables->source + b->tile * words;
    for (int64_t word = 0; word < words; word++) {
        const int64_t image = b->image + source[word] / stride, within = source[word] % stride;
        stage[word] = 0.0F;
        if (source[word] < 0 || image >= shape->g.batch)
            continue;
        assert_in_range(within, 0, shape->plane - 1);
        stage[word] = b->data->in[image * stride + channel * shape->plane + within];
    }
}

/* Words that no thread fills hold what may not come into a result. */
static void fill_stage(const struct block *b)
{
    const struct csrconv_block_tiling *t = &b->split->block;
    const struct csrconv_shape *shape = &b->data->problem.shape;
    const int64_t group = b->filter_tile / t->filter_tiles;
    for (int64_t i = 0; i < t->stage_floats; i++)
        b->stage[i] = i < t->zeros ? NAN : 0.0F;
    const int64_t *first = b->split->first_channel + b->chunk;
    assert_in_range(first[1] - first[0], 1, t->stage_channels);
    for (int64_t i = 0; i < first[1] - first[0]; i++)
        fill_channel(b, group * shape->group_channels + first[0] + i,
                     b->stage + i * t->patch.channel);
}

static void add(const struct block *b, float *sums, int64_t first_word, const uint32_t *pair)
{
    float value;
    memcpy(&value, pair + 1, sizeof value);
    assert_int_equal(pair[0] % sizeof(float), 0);
    if (value == 0.0F) /* no input may come into a result by it */
        assert_int_equal(pair[0] / sizeof(float), b->split->block.zeros);
    for (int64_t i = 0; i < kernel_of(b)->pixels * LANES; i++) {
        const int64_t at = (int64_t)(pair[0] / sizeof(float)) + first_word + i;
        assert_in_range(at, 0, b->split->block.stage_floats - 1);
        sums[i] += value * b->stage[at];
    }
}

/* A warp's first segment, of the list's; that of the one behind the last is how many there are. */
static int64_t first_segment(const uint32_t *list, int64_t way)
{
    return list[way] & ((1 << CSRCONV_FIRST_BITS) - 1);
}

/* The units that a chunk gives. */
static float *units_of(const struct block *b, int64_t chunk)
{
    return b->units + chunk * csrconv_split_units(b->split) * LANES * 4;
}

/* The sums of one segment of a warp, given away four of a lane at a time, each once. */
static void give(const struct block *b, int64_t warp, int64_t place, const float *sums)
{
    const int pixels = kernel_of(b)->pixels;
    const int64_t row = warp / b->split->block.filter_ways * b->split->places + place;
    for (int64_t g = 0; g < csrconv_split_place_units(b->split); g++) {
        const int64_t unit = row * csrconv_split_place_units(b->split) + g;
        float *to = units_of(b, b->chunk) + unit * LANES * 4;
        assert_in_range(unit, 0, csrconv_split_units(b->split) - 1);
        assert_true(isnan(to[0]));
        for (int64_t i = 0; i < LANES * 4; i++) {
            const int64_t j = g * 4 + i % 4;
            to[i] = j < pixels ? sums[j * LANES + i / 4] : 0.0F;
        }
    }
}

static void run_warp(const struct block *b, int64_t warp)
{
    const struct csrconv_block_tiling *t = &b->split->block;
    const int64_t way = warp % t->filter_ways, words = kernel_of(b)->pixels * LANES;
    const int64_t first_word = warp / t->filter_ways * words;
    const uint32_t *list = list_of(b), *quad = list + (list[way] >> CSRCONV_FIRST_BITS) * 4;
    const uint32_t *segments = list + csrconv_find_list_words(b->split).segment;
    float *sums = malloc((size_t)words * sizeof *sums);
    for (int64_t i = first_segment(list, way); i < first_segment(list, way + 1); i++) {
        memset(sums, 0, (size_t)words * sizeof *sums);
        for (uint32_t n = segments[i] >> CSRCONV_PLACE_BITS; n > 0; n--, quad += 4) {
            add(b, sums, first_word, quad);
            add(b, sums, first_word, quad + 2);
        }
        give(b, warp, segments[i] & ((1 << CSRCONV_PLACE_BITS) - 1), sums);
    }
    /* What the last look ahead loads lies in the list, and in the stage. */
    assert_true(quad + 4 <= list + b->lists->pitch * 4);
    assert_in_range(quad[0] / sizeof(float) + (uint64_t)(first_word + words), 0, t->stage_floats);
    free(sums);
}

/* One output of a unit: added over the chunks in their order, and stored where it belongs. */
static void store(const struct block *b, int64_t unit, int64_t lane, int i)
{
    const struct csrconv_block_tiling *t = &b->split->block;
    const struct csrconv_list_words words = csrconv_find_list_words(b->split);
    const struct csrconv_shape *shape = &b->data->problem.shape;
    const int pixels = kernel_of(b)->pixels;
    const int64_t of_place = csrconv_split_place_units(b->split), j = unit % of_place * 4 + i;
    const int64_t place = unit / of_place % b->split->places;
    const int64_t word = (unit / of_place / b->split->places * pixels + j) * LANES + lane;
    const int32_t filter = (int32_t)list_of(b)[words.filter + place];
    const int64_t output =
        j < pixels ? b->tables->output[b->tile * csrconv_block_words(t) + word] : -1;
    const int64_t n = b->image + output / shape->g.out_batch_stride;
    const int64_t pixel = output % shape->g.out_batch_stride;
    float sum = 0.0F;
    if (filter >= 0)
        assert_memory_equal(list_of(b) + words.bias + place,
                            b->data->problem.epilogue.bias + filter, sizeof(float));
    if (filter < 0 || output < 0 || n >= shape->g.batch)
        return;
    for (int64_t chunk = 0; chunk < t->stages; chunk++)
        sum += units_of(b, chunk)[(unit * LANES + lane) * 4 + i];
    exact_layer_store(b->data, n, filter, pixel, sum);
}

/* All chunks of a tile. */
static void run_tile(struct block *b)
{
    const struct csrconv_block_tiling *t = &b->split->block;
    const int64_t units = csrconv_split_units(b->split);
    for (int64_t i = 0; i < t->stages * units * LANES * 4; i++)
        b->units[i] = NAN;
    for (b->chunk = 0; b->chunk < t->stages; b->chunk++) {
        fill_stage(b);
        for (int64_t warp = 0; warp < t->filter_ways * t->pixel_ways; warp++)
            run_warp(b, warp);
    }
    b->chunk = 0;
    for (int64_t i = 0; i < units * LANES * 4; i++)
        store(b, i / 4 / LANES, i / 4 % LANES, (int)(i % 4));
}

static void run_tiles(struct block *b)
{
    const struct csrconv_block_tiling *t = &b->split->block;
    const int64_t filter_tiles = b->data->problem.shape.g.groups * t->filter_tiles;
    const int64_t tiles = t->image_tiles * t->row_tiles * t->column_tiles;
    assert_int_equal(t->blocks, filter_tiles * tiles * t->stages);
    for (int64_t i = 0; i < tiles * filter_tiles; i++) {
        const int64_t plane_tiles = t->row_tiles * t->column_tiles;
        b->filter_tile = i / tiles;
        b->tile = i % tiles % plane_tiles;
        b->image = i % tiles / plane_tiles * t->patch.images;
        run_tile(b);
    }
}

static void check_limits(const struct csrconv_split_machine *machine,
                         const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const int64_t threads = LANES * t->filter_ways * t->pixel_ways;
    const bool is_given = split->adder == CSRCONV_ADD_IN_CLUSTER || t->stages == 1;
    const int64_t given = is_given ? csrconv_split_share(split) * t->stages * LANES * 16 : 0;
    const int64_t barrier = 16, list = split->list_quads * 16;
    assert_true(t->shared_bytes <= machine->block.block_shared);
    assert_true(t->residents * t->shared_bytes <= machine->block.processor_shared);
    assert_true(barrier + list + given + (csrconv_block_words(t) + t->stage_floats) * 4 <=
                t->shared_bytes);
    assert_in_range(threads, LANES, CSRCONV_SPLIT_THREADS);
    assert_true(t->patch.span <= csrconv_block_words(t));
    assert_in_range(t->stages, 1, CSRCONV_MOST_CHUNKS);
    assert_true(csrconv_split_share(split) * t->stages >= csrconv_split_units(split));
    assert_in_range(split->places, t->filter_ways, CSRCONV_MOST_PLACES);
    assert_true(t->us > 0.0);
}

static void check_tiling(const struct csrconv_split_machine *machine, struct exact_layer *d,
                         const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    const int64_t units = csrconv_split_units(split) * t->stages;
    struct csrconv_memory memory;
    struct csrconv_chunk_lists lists;
    struct csrconv_tile_tables tables;
    struct block b = { .data = d,
                       .split = split,
                       .lists = &lists,
                       .tables = &tables,
                       .stage = malloc((size_t)t->stage_floats * sizeof(float)),
                       .units = malloc((size_t)(units * LANES * 4) * sizeof(float)) };
    check_limits(machine, split);
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_chunk_lists_make(&d->problem, split, &memory, &lists));
    assert_true(lists.pitch <= split->list_quads);
    assert_ok(csrconv_tile_tables_make(&d->problem.shape, &t->patch, csrconv_block_words(t),
                                       &memory, &tables));
    exact_layer_clear(d);
    run_tiles(&b);
    exact_layer_check(d);
    csrconv_tile_tables_free(&memory, &tables);
    csrconv_chunk_lists_free(&memory, &lists);
    free(b.units);
    free(b.stage);
}

/* Some of the tilings, spread over all: the one that each visit replaces is drawn. */
struct kept {
    struct random_state *random;
    int64_t seen;
    struct csrconv_split_tiling tilings[KEPT];
};

static void keep_some(void *context, const struct csrconv_split_tiling *tiling)
{
    struct kept *kept = context;
    const int64_t at = kept->seen < KEPT ? kept->seen : random_between(kept->random, 0, kept->seen);
    if (at < KEPT)
        kept->tilings[at] = *tiling;
    kept->seen++;
}

static void check_layer(const struct csrconv_split_machine *machine, struct exact_layer *d,
                        struct random_state *random)
{
    struct kept kept = { .random = random };
    struct csrconv_split_tiling best;
    const csrconv_status status = csrconv_split_tiling_choose(&d->problem, machine, spare, &best);
    csrconv_split_tiling_each(&d->problem, machine, spare, keep_some, &kept);
    assert_int_equal(status, kept.seen ? CSRCONV_OK : CSRCONV_NOT_SUPPORTED);
    if (!status)
        check_tiling(machine, d, &best);
    for (int64_t i = 0; i < kept.seen && i < KEPT; i++)
        check_tiling(machine, d, &kept.tilings[i]);
}

/* On a machine, or on all. */
static void check_weights(const csrconv_geometry *g, const csrconv_weights *weights,
                          const struct csrconv_split_machine *first, size_t count,
                          struct random_state *random)
{
    struct exact_layer d = { .problem.weights = weights };
    float *bias = malloc((size_t)g->filters * sizeof *bias);
    for (int64_t i = 0; i < g->filters; i++)
        bias[i] = (float)random_between(random, -9, 9);
    exact_layer_init(&d, g, random);
    d.problem.epilogue.bias = bias;
    for (size_t i = 0; i < count; i++)
        check_layer(&first[i], &d, random);
    exact_layer_free(&d);
    free(bias);
}

static void blocks_make_the_convolution(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 6);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights = random_weights(&random, &g);
        check_weights(&g, weights, &machines[(size_t)i % COUNT_OF(machines)], 1, &random);
        csrconv_weights_destroy(&weights);
    }
}

/* Every `apart`th is a nonzero. */
static csrconv_weights *spread_weights(const csrconv_geometry *g, int64_t apart)
{
    const int64_t count = g->filters * g->channels * g->kernel_h * g->kernel_w;
    float *dense = calloc((size_t)count, sizeof *dense);
    csrconv_weights *weights;
    assert_non_null(dense);
    for (int64_t i = 0; i < count; i += apart)
        dense[i] = 1.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    free(dense);
    return weights;
}

/*
 * One image on an H200: what a layer takes is estimated about as it was measured, at 1x1 with many
 * outputs, which were left out once; and 3x3 fills the multiprocessors, with 15 tiles of filters in
 * clusters of 8, not 8 or 16 in others, which took up to 1.4 times as long.
 */
static void one_image_takes_about_what_was_measured(void **state)
{
    static const struct {
        int64_t channels, size, filters, kernel, apart, least_blocks;
        double us;
    } layers[] = { { 64, 56, 256, 1, 37, 1, 4.89 },
                   { 32, 112, 64, 1, 11, 1, 4.87 },
                   { 256, 14, 256, 3, 10, 110, 5.2 },
                   { 512, 7, 512, 3, 10, 110, 5.8 },
                   { 128, 28, 128, 3, 33, 110, 3.3 } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        const csrconv_geometry g =
            geometry_of(layers[i].channels, layers[i].size, layers[i].size, layers[i].filters,
                        layers[i].kernel, layers[i].kernel);
        csrconv_weights *weights = spread_weights(&g, layers[i].apart);
        struct csrconv_problem problem = { .weights = weights };
        struct csrconv_split_tiling tiling;
        assert_ok(csrconv_shape_init(&problem.shape, &g));
        assert_ok(csrconv_split_tiling_choose(&problem, &machines[0], 1.5, &tiling));
        assert_true(fabs(log(tiling.block.us / layers[i].us)) < log(1.15));
        assert_true(tiling.block.blocks >= layers[i].least_blocks);
        csrconv_weights_destroy(&weights);
    }
}

static void check_alone(void *context, const struct csrconv_split_tiling *tiling)
{
    (void)context;
    assert_int_equal(tiling->block.stages, 1);
}

/* On a GPU whose multiprocessors are so apart that no cluster runs. */
static void clusters_that_do_not_run_are_not_chosen(void **state)
{
    const struct csrconv_split_machine alone = { machines[0].block,
                                                 CSRCONV_ADD_IN_CLUSTER,
                                                 { 0, 132 } };
    const csrconv_geometry g = geometry_of(256, 14, 14, 256, 3, 3);
    csrconv_weights *weights = spread_weights(&g, 10);
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_split_tiling tiling;
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_split_tiling_choose(&problem, &alone, 1.1, &tiling));
    assert_int_equal(tiling.block.stages, 1);
    assert_true(isfinite(tiling.block.us));
    assert_true(csrconv_split_tiling_each(&problem, &alone, 1.1, check_alone, NULL) > 0);
    csrconv_weights_destroy(&weights);
}

static void check_visited(void *context, const struct csrconv_split_tiling *tiling)
{
    (void)context;
    check_limits(&machines[0], tiling);
}

/* With more filters than blocks that run at once have places for. */
static void every_tiling_keeps_its_limits(void **state)
{
    const csrconv_geometry g = geometry_of(64, 7, 7, 3000, 1, 1);
    csrconv_weights *weights = weights_of(&g);
    struct csrconv_problem problem = { .weights = weights };
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_true(csrconv_split_tiling_each(&problem, &machines[0], 1.1, check_visited, NULL) > 0);
    csrconv_weights_destroy(&weights);
}

/* Quads of a warp of a list. */
static int64_t warp_quads(const uint32_t *list, const struct csrconv_split_tiling *split,
                          int64_t way)
{
    const uint32_t *segments = list + csrconv_find_list_words(split).segment;
    int64_t quads = 0;
    for (int64_t i = first_segment(list, way); i < first_segment(list, way + 1); i++)
        quads += segments[i] >> CSRCONV_PLACE_BITS;
    return quads;
}

/* The most quads of a warp, and of a block, over the mean of all of them. */
struct unevenness {
    double warps, blocks;
};

static struct unevenness unevenness_of(const struct csrconv_chunk_lists *lists,
                                       const struct csrconv_split_tiling *split)
{
    const struct csrconv_block_tiling *t = &split->block;
    int64_t most = 0, most_block = 0, all = 0;
    for (int64_t i = 0; i < lists->count; i++) {
        const uint32_t *list = lists->quads[i * lists->pitch].word;
        int64_t block = 0;
        for (int64_t way = 0; way < t->filter_ways; way++) {
            const int64_t quads = warp_quads(list, split, way);
            most = quads > most ? quads : most;
            block += quads;
        }
        most_block = block > most_block ? block : most_block;
        all += block;
    }
    return (struct unevenness){ (double)(most * lists->count * t->filter_ways) / (double)all,
                                (double)(most_block * lists->count) / (double)all };
}

/* Filters with most of their nonzeros in one half of the channels: which half, in pairs. */
static csrconv_weights *one_sided_weights(const csrconv_geometry *g)
{
    const int64_t columns = g->channels * g->kernel_h * g->kernel_w;
    float *dense = calloc((size_t)(g->filters * columns), sizeof *dense);
    csrconv_weights *weights;
    assert_non_null(dense);
    for (int64_t m = 0; m < g->filters; m++)
        for (int64_t i = 0; i < columns; i++)
            if (i % (i * 2 / columns == m / 2 % 2 ? 3 : 24) == 0)
                dense[m * columns + i] = 1.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    free(dense);
    return weights;
}

/* One in 11 on the average, channels and filters at random from half to one and a half of that. */
static csrconv_weights *speckled_weights(const csrconv_geometry *g)
{
    const int64_t columns = g->channels * g->kernel_h * g->kernel_w;
    float *dense = calloc((size_t)(g->filters * columns), sizeof *dense);
    int64_t *of_filter = calloc((size_t)g->filters, sizeof *of_filter);
    int64_t *of_channel = calloc((size_t)g->channels, sizeof *of_channel);
    struct random_state random;
    csrconv_weights *weights;
    assert_true(dense && of_filter && of_channel);
    random_seed(&random, 11);
    for (int64_t m = 0; m < g->filters; m++)
        of_filter[m] = random_between(&random, 50, 150);
    for (int64_t c = 0; c < g->channels; c++)
        of_channel[c] = random_between(&random, 50, 150);
    for (int64_t i = 0; i < g->filters * columns; i++) {
        const int64_t share =
            of_filter[i / columns] * of_channel[i % columns / (g->kernel_h * g->kernel_w)];
        dense[i] = random_between(&random, 1, 110000) <= share ? 1.0F : 0.0F;
    }
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    free(of_channel);
    free(of_filter);
    free(dense);
    return weights;
}

/* All nonzeros, every other weight, in one channel; none at all. */
static csrconv_weights *lone_weights(const csrconv_geometry *g, int64_t channel)
{
    const int64_t window = g->kernel_h * g->kernel_w, count = g->filters * g->channels * window;
    float *dense = calloc((size_t)count, sizeof *dense);
    csrconv_weights *weights;
    assert_non_null(dense);
    for (int64_t i = 0; i < count; i++)
        dense[i] = i / window % g->channels == channel && i % 2 ? 1.0F : 0.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    free(dense);
    return weights;
}

/*
 * More channels than are counted apart, more filters than a block has places for, chunks of unequal
 * width; those of random layers are small.
 */
static void blocks_make_wide_layers(void **state)
{
    const csrconv_geometry wide = geometry_of(300, 6, 6, 200, 1, 1);
    const csrconv_geometry lone = geometry_of(40, 9, 9, 90, 3, 3);
    csrconv_weights *weights[] = { speckled_weights(&wide), lone_weights(&lone, 11),
                                   lone_weights(&lone, -1) };
    struct random_state random;
    (void)state;
    random_seed(&random, 7);
    for (size_t i = 0; i < COUNT_OF(weights); i++) {
        check_weights(i ? &lone : &wide, weights[i], machines, 2, &random);
        csrconv_weights_destroy(&weights[i]);
    }
}

/* Channels that have ever more: chunks of equal work would be too wide for what there is. */
static void wide_windows_are_cut_evenly(void **state)
{
    csrconv_geometry g = geometry_of(32, 120, 120, 16, 3, 3);
    csrconv_weights *weights;
    struct csrconv_problem problem = { 0 };
    struct csrconv_split_tiling tiling;
    const int64_t columns = g.channels * 9;
    float *dense = calloc((size_t)(g.filters * columns), sizeof *dense);
    (void)state;
    assert_non_null(dense);
    for (int64_t i = 0; i < g.filters * columns; i++)
        dense[i] = i * 7 % 64 < i % columns / 9 ? 1.0F : 0.0F;
    assert_ok(csrconv_weights_from_dense(dense, g.filters, g.channels, 3, 3, NULL, &weights));
    free(dense);
    g.dilation_h = g.dilation_w = 55;
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_split_tiling_choose(&problem, &machines[0], 1.1, &tiling));
    csrconv_weights_destroy(&weights);
}

static struct unevenness unevenness_by(const csrconv_weights *weights, const csrconv_geometry *g,
                                       const struct csrconv_split_tiling *tiling)
{
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_chunk_lists lists;
    struct csrconv_memory memory;
    struct unevenness u;
    assert_ok(csrconv_shape_init(&problem.shape, g));
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_chunk_lists_make(&problem, tiling, &memory, &lists));
    u = unevenness_of(&lists, tiling);
    csrconv_chunk_lists_free(&memory, &lists);
    return u;
}

/* Dealt for all chunks together, a warp could have two long filters in one and two short in
 * another.
 */
static void warps_have_equal_work_in_each_chunk(void **state)
{
    const csrconv_geometry g = geometry_of(64, 14, 14, 32, 3, 3);
    csrconv_weights *weights = one_sided_weights(&g);
    struct csrconv_shape shape;
    struct csrconv_split_tiling tiling = { .block = { .filter_ways = 16,
                                                      .pixel_ways = 1,
                                                      .ring = 1,
                                                      .stages = 2,
                                                      .filter_tiles = 1,
                                                      .stage_channels = 32 },
                                           .places = 32,
                                           .first_channel = { 0, 32, 64 } };
    (void)state;
    assert_ok(csrconv_shape_init(&shape, &g));
    assert_true(csrconv_patch_make(&shape, 1, 7, 14, 1, &tiling.block.patch));
    assert_true(unevenness_by(weights, &g, &tiling).warps < 1.05);
    csrconv_weights_destroy(&weights);
}

/* With as many channels in each chunk, and filters dealt to tiles by their length, one has 15 %
 * more than the mean. */
static void blocks_have_equal_work(void **state)
{
    const csrconv_geometry g = geometry_of(256, 14, 14, 256, 3, 3);
    csrconv_weights *weights = speckled_weights(&g);
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_split_tiling tiling;
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_split_tiling_choose(&problem, &machines[0], 1.1, &tiling));
    assert_true(tiling.block.stages > 1);
    assert_true(unevenness_by(weights, &g, &tiling).blocks < 1.04);
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_make_the_convolution),
        cmocka_unit_test(blocks_make_wide_layers),
        cmocka_unit_test(wide_windows_are_cut_evenly),
        cmocka_unit_test(one_image_takes_about_what_was_measured),
        cmocka_unit_test(clusters_that_do_not_run_are_not_chosen),
        cmocka_unit_test(every_tiling_keeps_its_limits),
        cmocka_unit_test(warps_have_equal_work_in_each_chunk),
        cmocka_unit_test(blocks_have_equal_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
