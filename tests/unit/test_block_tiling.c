/*
 * What host code prepares for cuda_tiled, run on the CPU: blocks stage patches of random layers,
 * their warps walk the streams as the kernel does, and every output must come out once and right.
 */
#include "exact_layer.h"

#include "block_tiling.h"
#include "row_streams.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, KEPT = 6, LARGE = 227 * 1024 };

static const struct csrconv_block_machine machines[] = {
    { 132, LARGE, 228 * 1024, 1.98 },
    { 40, 64 * 1024, 64 * 1024, 1.5 },
    { 3, 6 * 1024, 9 * 1024, 1.0 }, /* no such GPU: small, so that stages and tiles are */
};

/* A block at work: its tile, its place, and one stage of shared memory. */
struct block {
    const struct exact_layer *data;
    const struct csrconv_block_tiling *tiling;
    const struct csrconv_row_streams *streams;
    const int32_t *places, *row_phases, *column_phases;
    int64_t filter_tile, image, row, column;
    float *stage;
    float *sums;      /* of a warp: filters x words of its pixel way */
    int64_t quad[16]; /* where each of the filter ways' streams stands */
};

/* One row of a channel's patch, in copies of `vector` floats as the kernel makes them. */
static void stage_row(const struct block *b, float *channel, int64_t c, int64_t image, int64_t y)
{
    const csrconv_geometry *g = &b->data->problem.shape.g;
    const struct csrconv_patch *p = &b->tiling->patch;
    const int64_t iy = b->row * g->stride_h - g->pad_top + y;
    const int64_t left = b->column * g->stride_w - g->pad_left;
    const int64_t begin = left < 0 ? -left : 0;
    const int64_t end = g->width - left < p->width ? g->width - left : p->width;
    const int64_t down = b->row_phases[y % g->stride_h];
    for (int64_t x = begin; x < end; x += p->vector)
        for (int64_t i = 0; i < p->vector && down >= 0; i++) {
            const int64_t across = b->column_phases[(x + i) % g->stride_w];
            const int64_t at = p->lead + down + across + image * p->image_pitch +
                               y / g->stride_h * p->pitch + (x + i) / g->stride_w;
            if (across < 0)
                continue;
            assert_in_range(at, 0, p->plane * p->row_phases * p->column_phases - 1);
            /* A copy stays inside the input's row. */
            assert_in_range(left + x + i, 0, g->width - 1);
            channel[at] = exact_layer_input(b->data, b->image + image, c, iy, left + x + i);
        }
}

static void stage_channels(const struct block *b, int64_t stage)
{
    const struct csrconv_shape *shape = &b->data->problem.shape;
    const struct csrconv_patch *p = &b->tiling->patch;
    const int64_t group = b->filter_tile / b->tiling->filter_tiles;
    for (int64_t i = 0; i < b->tiling->stage_channels; i++) {
        const int64_t c = stage * b->tiling->stage_channels + i;
        for (int64_t image = 0; image < p->images && c < shape->group_channels; image++)
            for (int64_t y = 0; y < p->height; y++) {
                const int64_t iy = b->row * shape->g.stride_h - shape->g.pad_top + y;
                if (b->image + image < shape->g.batch && iy >= 0 && iy < shape->g.height)
                    stage_row(b, b->stage + i * p->channel, group * shape->group_channels + c,
                              image, y);
            }
    }
}

static void add(const struct block *b, float *sums, int64_t first_word, int64_t words,
                uint32_t offset, uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    assert_int_equal(offset % sizeof(float), 0);
    for (int64_t i = 0; i < words; i++) {
        const int64_t at = (int64_t)(offset / sizeof(float)) + first_word + i;
        assert_in_range(at, 0, b->tiling->stage_floats - 1);
        sums[i] += value * b->stage[at];
    }
}

/* What a warp does in a stage; all pixel ways of it at once. */
static void walk_stage(struct block *b, int64_t way)
{
    const int filters = csrconv_block_kernels[b->tiling->kernel].filters;
    const int64_t words = csrconv_block_words(b->tiling);
    const struct csrconv_quad *quad = b->streams->quads + b->quad[way];
    const struct csrconv_quad *counts = quad++;
    for (int f = 0; f < filters; f++) {
        float *sums = b->sums + (way * filters + f) * words;
        int64_t left = counts->word[f / 2] >> f % 2 * 16 & 0xffff;
        for (; left > 0; left--, quad++) {
            add(b, sums, 0, words, quad->word[0], quad->word[1]);
            add(b, sums, 0, words, quad->word[2], quad->word[3]);
        }
    }
    /* What the last look ahead loads: inside the stage, too. */
    assert_in_range(quad->word[0] / sizeof(float) + (uint64_t)words, 0, b->tiling->stage_floats);
    b->quad[way] = quad + 1 - b->streams->quads;
}

static void store_word(const struct block *b, int64_t filter, int64_t word, float sum)
{
    const struct csrconv_shape *shape = &b->data->problem.shape;
    const int32_t place = b->places[word];
    const int64_t n = b->image + (place >> 20), y = b->row + (place >> 10 & 1023);
    const int64_t x = b->column + (place & 1023);
    if (place < 0 || n >= shape->g.batch || y >= shape->out_h || x >= shape->out_w)
        return;
    exact_layer_store(b->data, n, filter, y * shape->out_w + x, sum);
}

static void run_block(struct block *b)
{
    const struct csrconv_block_tiling *t = b->tiling;
    const int filters = csrconv_block_kernels[t->kernel].filters;
    const int64_t words = csrconv_block_words(t), lists = t->filter_ways * filters;
    memset(b->stage, 0, (size_t)t->stage_floats * sizeof *b->stage);
    memset(b->sums, 0, (size_t)(lists * words) * sizeof *b->sums);
    for (int64_t way = 0; way < t->filter_ways; way++)
        b->quad[way] = b->streams->start[b->filter_tile * t->filter_ways + way];
    for (int64_t stage = 0; stage < t->stages; stage++) {
        stage_channels(b, stage);
        for (int64_t way = 0; way < t->filter_ways; way++)
            walk_stage(b, way);
    }
    for (int64_t i = 0; i < lists; i++) {
        const int64_t filter = b->streams->filter[b->filter_tile * lists + i];
        for (int64_t word = 0; word < words && filter >= 0; word++)
            store_word(b, filter, word, b->sums[i * words + word]);
    }
}

static void run_blocks(struct block *b)
{
    const struct csrconv_block_tiling *t = b->tiling;
    const int64_t filter_tiles = b->data->problem.shape.g.groups * t->filter_tiles;
    assert_int_equal(t->blocks, filter_tiles * t->image_tiles * t->row_tiles * t->column_tiles);
    for (int64_t i = 0; i < t->blocks; i++) {
        int64_t rest = i / filter_tiles;
        b->filter_tile = i % filter_tiles;
        b->column = rest % t->column_tiles * t->patch.columns;
        rest /= t->column_tiles;
        b->row = rest % t->row_tiles * t->patch.rows;
        b->image = rest / t->row_tiles * t->patch.images;
        run_block(b);
    }
}

static void check_limits(const struct csrconv_block_machine *machine,
                         const struct csrconv_block_tiling *t)
{
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    const int64_t threads = 32 * (t->filter_ways * t->pixel_ways + t->producers);
    assert_true(t->shared_bytes <= machine->block_shared);
    assert_true(t->residents * t->shared_bytes <= machine->processor_shared);
    assert_true(threads <= k->most_threads);
    assert_true(threads * k->registers * t->residents <= 65536);
    assert_in_range(t->ring, 1, t->stages);
    assert_true(t->patch.span <= csrconv_block_words(t));
    assert_true(t->us > 0.0);
}

static void check_tiling(struct exact_layer *d, const struct csrconv_block_machine *machine,
                         const struct csrconv_block_tiling *tiling)
{
    const csrconv_geometry *g = &d->problem.shape.g;
    const int64_t words = csrconv_block_words(tiling);
    const int64_t lists = csrconv_block_filters(tiling);
    struct csrconv_memory memory;
    struct csrconv_row_streams streams;
    int32_t *places = malloc((size_t)words * sizeof *places);
    int32_t *phases = malloc((size_t)(g->stride_h + g->stride_w) * sizeof *phases);
    struct block b = { .data = d,
                       .tiling = tiling,
                       .streams = &streams,
                       .places = places,
                       .row_phases = phases,
                       .column_phases = phases + g->stride_h,
                       .stage = malloc((size_t)tiling->stage_floats * sizeof(float)),
                       .sums = malloc((size_t)(lists * words) * sizeof(float)) };
    check_limits(machine, tiling);
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_row_streams_make(&d->problem, tiling, &memory, &streams));
    csrconv_patch_places(&tiling->patch, words, places);
    csrconv_patch_row_phases(&d->problem.shape, &tiling->patch, phases);
    csrconv_patch_column_phases(&d->problem.shape, &tiling->patch, phases + g->stride_h);
    exact_layer_clear(d);
    run_blocks(&b);
    exact_layer_check(d);
    csrconv_row_streams_free(&memory, &streams);
    free(b.sums);
    free(b.stage);
    free(phases);
    free(places);
}

/* Some of the tilings, spread over all: the one that each visit replaces is drawn. */
struct kept {
    struct random_state *random;
    int64_t seen;
    struct csrconv_block_tiling tilings[KEPT];
};

static void keep_some(void *context, const struct csrconv_block_tiling *tiling)
{
    struct kept *kept = context;
    const int64_t at = kept->seen < KEPT ? kept->seen : random_between(kept->random, 0, kept->seen);
    if (at < KEPT)
        kept->tilings[at] = *tiling;
    kept->seen++;
}

static void check_layer(struct exact_layer *d, const struct csrconv_block_machine *machine,
                        struct random_state *random)
{
    struct kept kept = { .random = random };
    struct csrconv_block_tiling best;
    const csrconv_status status = csrconv_block_tiling_choose(&d->problem, machine, &best);
    csrconv_block_tiling_each(&d->problem, machine, keep_some, &kept);
    assert_int_equal(status, kept.seen ? CSRCONV_OK : CSRCONV_NOT_SUPPORTED);
    if (!status)
        check_tiling(d, machine, &best);
    for (int64_t i = 0; i < kept.seen && i < KEPT; i++)
        check_tiling(d, machine, &kept.tilings[i]);
}

static void blocks_make_the_convolution(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 5);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights = random_weights(&random, &g);
        struct exact_layer d = { .problem.weights = weights };
        d.problem.without.row_order = i % 5 == 4;
        exact_layer_init(&d, &g, &random);
        check_layer(&d, &machines[i % COUNT_OF(machines)], &random);
        exact_layer_free(&d);
        csrconv_weights_destroy(&weights);
    }
}

/* How many times the mean the longest stream is. */
static double unevenness(const struct csrconv_problem *problem,
                         const struct csrconv_block_tiling *tiling)
{
    struct csrconv_memory memory;
    struct csrconv_row_streams s;
    int64_t most = 0;
    double times;
    assert_ok(csrconv_memory_init(&memory, NULL));
    assert_ok(csrconv_row_streams_make(problem, tiling, &memory, &s));
    for (int64_t i = 0; i < s.warps; i++)
        most = s.start[i + 1] - s.start[i] > most ? s.start[i + 1] - s.start[i] : most;
    times = (double)most * (double)s.warps / (double)s.start[s.warps];
    csrconv_row_streams_free(&memory, &s);
    return times;
}

static void warps_have_equal_work(void **state)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 256, 3, 3);
    struct csrconv_problem problem = { 0 };
    struct csrconv_block_tiling tiling;
    csrconv_weights *weights = uneven_weights(&g);
    (void)state;
    g.batch = 64;
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_block_tiling_choose(&problem, &machines[0], &tiling));
    /* With one filter a warp there would be nothing to deal. */
    assert_true(csrconv_block_kernels[tiling.kernel].filters > 1);
    assert_true(unevenness(&problem, &tiling) < 1.05);
    problem.without.row_order = true;
    assert_true(unevenness(&problem, &tiling) > 1.5);
    csrconv_weights_destroy(&weights);
}

static void windows_that_do_not_fit_are_refused(void **state)
{
    csrconv_geometry g = geometry_of(1, 400, 400, 1, 2, 2);
    struct csrconv_problem problem = { 0 };
    struct csrconv_block_tiling t;
    csrconv_weights *weights;
    (void)state;
    g.dilation_h = g.dilation_w = 300;
    weights = weights_of(&g);
    problem.weights = weights;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_fails(csrconv_block_tiling_choose(&problem, &machines[0], &t), CSRCONV_NOT_SUPPORTED,
                 "232448 bytes of shared memory");
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_make_the_convolution),
        cmocka_unit_test(warps_have_equal_work),
        cmocka_unit_test(windows_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
