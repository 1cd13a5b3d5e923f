/* Tilings: whatever the model picks, every output is computed, stored once, and read within. */
#include "tile_fixture.h"

#include "tile_pack.h"
#include "tiled.h"
#include "tiling.h"

#include <string.h>

enum { ROUNDS = 500 };

/* A random layer and what is picked for it. */
struct sample {
    struct csrconv_problem problem;
    const struct csrconv_tile_isa *isa;
    struct csrconv_tiling tiling;
    int64_t images;
};

static void each_sample(void (*check)(const struct sample *sample))
{
    struct random_state random;
    random_seed(&random, 4);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights = random_weights(&random, &g);
        struct sample s = { .problem.weights = weights,
                            .isa = i % 2 ? &plain_isa_of_8 : &plain_isa_of_16 };
        s.images = random_between(&random, 1, g.batch);
        assert_ok(csrconv_shape_init(&s.problem.shape, &g));
        assert_ok(csrconv_team_init(&s.problem.team, (int)random_between(&random, 1, 9), NULL));
        assert_ok(csrconv_tiling_choose(&s.problem, s.isa, i % 4 < 2, s.images, &s.tiling));
        check(&s);
        csrconv_weights_destroy(&weights);
    }
}

static void check_sizes(const struct sample *s)
{
    const struct csrconv_tiling *t = &s->tiling;
    const csrconv_geometry *g = &s->problem.shape.g;
    assert_in_range(t->tile_vectors, 1, s->isa->most_vectors);
    assert_in_range(t->group, 1, t->tiles);
    assert_in_range(t->cut.block_channels, 1, g->channels);
    assert_in_range(t->cut.chunks, 1, g->filters);
    assert_int_equal(t->images, t->layout.images_in_lanes ? s->isa->lanes : 1);
    assert_in_range(t->wave, 1, (s->images + t->images - 1) / t->images);
    assert_int_equal(csrconv_tiling_groups(t), (t->tiles + t->group - 1) / t->group);
    assert_true(t->cycles > 0.0);
}

static void sizes_are_within_bounds(void **state)
{
    (void)state;
    each_sample(check_sizes);
}

/* Tile i begins where the one before ends, or within it if it is the last. */
static void check_stretches(const struct sample *s)
{
    const struct csrconv_tiling *t = &s->tiling;
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t size = csrconv_tiling_positions(t);
    assert_int_equal(csrconv_tiling_load(t, shape, 0), 0);
    for (int64_t i = 1; i < t->tiles; i++) {
        const int64_t before = csrconv_tiling_load(t, shape, i - 1);
        const int64_t load = csrconv_tiling_load(t, shape, i);
        assert_in_range(load, before + 1, before + size);
        assert_int_equal(load + size < t->layout.positions, i + 1 < t->tiles);
    }
    assert_true(csrconv_tiling_load(t, shape, t->tiles - 1) + size >= t->layout.positions);
}

/* Tiles side by side make whole rows, which make the map. */
static void check_rows(const struct sample *s)
{
    const struct csrconv_tiling *t = &s->tiling;
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t columns = t->tile_vectors / t->rows;
    assert_int_equal(t->tile_vectors % t->rows, 0);
    assert_true(t->layout.images_in_lanes);
    assert_int_equal(csrconv_tiling_second(t), t->rows == 2 ? t->layout.pitch : (columns + 1) / 2);
    assert_int_equal(t->tiles, t->row_tiles * ((shape->out_h + t->rows - 1) / t->rows));
    assert_int_equal(t->group % t->row_tiles, 0);
    for (int64_t i = 0; i < t->tiles; i++) {
        const int64_t load = csrconv_tiling_load(t, shape, i);
        const int64_t y = load / t->layout.pitch, x = load % t->layout.pitch;
        const int64_t row = i / t->row_tiles * t->rows, tile = i % t->row_tiles * columns;
        assert_int_equal(y, row + t->rows <= shape->out_h ? row : shape->out_h - t->rows);
        assert_int_equal(x, tile + columns <= shape->out_w ? tile : shape->out_w - columns);
    }
    assert_true(t->row_tiles * columns >= shape->out_w);
}

static void check_tiles(const struct sample *s)
{
    if (s->tiling.row_tiles)
        check_rows(s);
    else
        check_stretches(s);
}

static void tiles_cover_the_positions(void **state)
{
    (void)state;
    each_sample(check_tiles);
}

/*
 * Marks at which position each sum of tiles [first, end) was computed, as the kernels store them:
 * in two halves, and later tiles over those before.
 */
static void mark_sums(const struct sample *s, int64_t first, int64_t end, int64_t *positions)
{
    const struct csrconv_tiling *t = &s->tiling;
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t size = csrconv_tiling_positions(t), places = t->group * size;
    const int64_t half = (t->tile_vectors + 1) / 2 * t->layout.lanes / t->layout.element;
    for (int64_t i = first; i < end; i++)
        for (int64_t k = 0; k < size; k++) {
            const int64_t second = k < half ? 0 : k - half;
            const int64_t place = csrconv_tiling_place(t, shape, first, i);
            const int64_t at = k < half ? k : csrconv_tiling_second_place(t, shape) + second;
            const int64_t from = k < half ? k : csrconv_tiling_second(t) + second;
            assert_in_range(place + at, 0, places - 1);
            positions[place + at] = csrconv_tiling_load(t, shape, i) + from;
        }
}

/* Group by group, as they are stored: count[i] becomes how often output i. */
static void count_outputs(const struct sample *s, int64_t first, int64_t end, int *count)
{
    const struct csrconv_tiling *t = &s->tiling;
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t most = (end - first) * csrconv_tiling_most_stretches(t);
    const int64_t places = csrconv_tiling_places(t, shape, first, end);
    int64_t *positions =
        test_malloc((size_t)(t->group * csrconv_tiling_positions(t)) * sizeof *positions);
    struct csrconv_stretch_of_row *stretches = test_malloc((size_t)most * sizeof *stretches);
    const int64_t found = csrconv_tiling_find_stretches(t, shape, first, end, stretches);
    assert_in_range(found, 0, most);
    assert_in_range(places, 1, t->group * csrconv_tiling_positions(t));
    mark_sums(s, first, end, positions);
    for (int64_t i = 0; i < found; i++) {
        assert_in_range(stretches[i].position, 0, places - 1);
        assert_in_range(stretches[i].length, 1, places - stretches[i].position);
        for (int64_t k = 0; k < stretches[i].length; k++) {
            const int64_t output = stretches[i].output + k, w = shape->out_w;
            assert_int_equal(output / w * t->layout.pitch + output % w,
                             positions[stretches[i].position + k]);
            count[output]++;
        }
    }
    test_free(stretches);
    test_free(positions);
}

static void check_outputs(const struct sample *s)
{
    const int64_t outputs = s->problem.shape.out_plane;
    int *count = test_calloc((size_t)outputs, sizeof *count);
    for (int64_t first = 0; first < s->tiling.tiles; first += s->tiling.group) {
        const int64_t left = s->tiling.tiles - first;
        count_outputs(s, first, first + (left < s->tiling.group ? left : s->tiling.group), count);
    }
    for (int64_t i = 0; i < outputs; i++)
        assert_int_equal(count[i], 1);
    test_free(count);
}

static void every_output_is_stored_once(void **state)
{
    (void)state;
    each_sample(check_outputs);
}

/* Floats from where tile i starts to the end of what its vectors read. */
static int64_t reach(const struct csrconv_tiling *t)
{
    const int64_t second = csrconv_tiling_second(t) * t->layout.element;
    if (t->tile_vectors == 1)
        return t->layout.in_place && t->layout.positions < t->layout.lanes ? t->layout.positions
                                                                           : t->layout.lanes;
    if (t->rows == 1)
        assert_in_range(second, 1, (t->tile_vectors + 1) / 2 * t->layout.lanes);
    return second + t->tile_vectors / 2 * t->layout.lanes;
}

/* From the first float of the first tile to the last one of the last, for each weight's input. */
static void check_reads(const struct sample *s)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    const csrconv_geometry *g = &shape->g;
    const struct csrconv_tiling *t = &s->tiling;
    const int64_t floats = t->layout.in_place
                               ? shape->in_image
                               : csrconv_tile_image_floats(&t->layout, shape, t->tile_vectors);
    const int64_t last = csrconv_tiling_load(t, shape, t->tiles - 1) * t->layout.element + reach(t);
    assert_true(last >= t->layout.positions * t->layout.element);
    for (int64_t c = 0; c < g->channels; c++)
        for (int64_t r = 0; r < g->kernel_h; r++)
            for (int64_t k = 0; k < g->kernel_w; k++)
                assert_in_range(csrconv_tile_offset(&t->layout, shape, c, r, k), 0, floats - last);
}

static void tiles_read_within_the_image(void **state)
{
    (void)state;
    each_sample(check_reads);
}

/* In place, the input itself has to look as the layout says. */
static void check_in_place(const struct sample *s)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    const struct csrconv_tile_layout *l = &s->tiling.layout;
    const csrconv_geometry *g = &shape->g;
    if (!l->in_place)
        return;
    assert_int_equal(g->stride_h, 1);
    assert_int_equal(g->stride_w, 1);
    assert_int_equal(l->pitch, g->width);
    assert_int_equal(l->channel_stride, shape->plane);
    assert_int_equal(l->element, 1);
    assert_int_equal(
        csrconv_tile_offset(l, shape, g->channels - 1, g->kernel_h - 1, g->kernel_w - 1),
        (g->channels - 1) * shape->plane + (g->kernel_h - 1) * g->dilation_h * g->width +
            (g->kernel_w - 1) * g->dilation_w);
}

static void inputs_in_place_are_the_callers(void **state)
{
    (void)state;
    each_sample(check_in_place);
}

/* Without borders and strides there is nothing to lay out, however many pixels there are. */
static void every_number_of_pixels_stays_in_place(void **state)
{
    (void)state;
    for (int64_t pixels = 1; pixels < 300; pixels++) {
        const csrconv_geometry g = geometry_of(3, 1, pixels, 3, 1, 1);
        struct sample s = { .isa = pixels % 2 ? &plain_isa_of_8 : &plain_isa_of_16, .images = 1 };
        csrconv_weights *weights = weights_of(&g);
        s.problem.weights = weights;
        assert_ok(csrconv_shape_init(&s.problem.shape, &g));
        assert_ok(csrconv_team_init(&s.problem.team, 1, NULL));
        assert_ok(csrconv_tiling_choose(&s.problem, s.isa, false, 1, &s.tiling));
        assert_true(s.tiling.layout.in_place);
        check_reads(&s);
        csrconv_weights_destroy(&weights);
    }
}

/* The random layers above have all kinds of tiles, and pairs of rows that overlap at the end. */
static int stretches, rows, pairs, odd_pairs;

static void count_kinds(const struct sample *s)
{
    stretches += !s->tiling.row_tiles;
    rows += s->tiling.row_tiles && s->tiling.rows == 1;
    pairs += s->tiling.rows == 2;
    odd_pairs += s->tiling.rows == 2 && s->problem.shape.out_h % 2;
}

static void samples_have_all_kinds_of_tiles(void **state)
{
    (void)state;
    each_sample(count_kinds);
    assert_in_range(stretches, ROUNDS / 20, ROUNDS);
    assert_in_range(rows, ROUNDS / 20, ROUNDS);
    assert_in_range(pairs, ROUNDS / 20, ROUNDS);
    assert_in_range(odd_pairs, ROUNDS / 100, pairs - 1);
}

/* Two rows of seven columns: nothing lost on such a map, and four input rows instead of six. */
static void a_map_of_14_by_14_is_cut_into_pairs_of_rows(void **state)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 64, 3, 3);
    struct sample s = { .isa = &plain_isa_of_8, .images = 16 };
    csrconv_weights *weights = weights_of(&g);
    (void)state;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    g.batch = 16;
    s.problem.weights = weights;
    assert_ok(csrconv_shape_init(&s.problem.shape, &g));
    assert_ok(csrconv_team_init(&s.problem.team, 1, NULL));
    assert_ok(csrconv_tiling_choose(&s.problem, s.isa, true, s.images, &s.tiling));
    assert_int_equal(s.tiling.rows, 2);
    assert_int_equal(s.tiling.tile_vectors, 14);
    assert_int_equal(s.tiling.tiles, 14);
    check_rows(&s);
    csrconv_weights_destroy(&weights);
}

static void more_filters_than_32_bits_count_are_refused(void **state)
{
    const csrconv_geometry g = geometry_of(1, 1, 1, INT64_C(1) << 31, 1, 1);
    const struct csrconv_algorithm plain = { .traits = &plain_isa_of_8 };
    struct csrconv_problem problem = { 0 };
    struct csrconv_estimate estimate;
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_fails(csrconv_tiled_estimate(&plain, &problem, &estimate), CSRCONV_NOT_SUPPORTED,
                 "2147483648 filters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_within_bounds),
        cmocka_unit_test(tiles_cover_the_positions),
        cmocka_unit_test(every_output_is_stored_once),
        cmocka_unit_test(tiles_read_within_the_image),
        cmocka_unit_test(inputs_in_place_are_the_callers),
        cmocka_unit_test(every_number_of_pixels_stays_in_place),
        cmocka_unit_test(samples_have_all_kinds_of_tiles),
        cmocka_unit_test(a_map_of_14_by_14_is_cut_into_pairs_of_rows),
        cmocka_unit_test(more_filters_than_32_bits_count_are_refused),
    };
    return cmocka_run_group_tests_name("tiling", tests, NULL, NULL);
}
