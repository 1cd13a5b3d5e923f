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
static void check_tiles(const struct sample *s)
{
    const struct csrconv_tiling *t = &s->tiling;
    const int64_t size = csrconv_tiling_positions(t);
    assert_int_equal(csrconv_tiling_load(t, 0), 0);
    for (int64_t i = 1; i < t->tiles; i++) {
        const int64_t before = csrconv_tiling_load(t, i - 1), load = csrconv_tiling_load(t, i);
        assert_in_range(load, before + 1, before + size);
        assert_int_equal(load + size < t->layout.positions, i + 1 < t->tiles);
    }
    assert_true(csrconv_tiling_load(t, t->tiles - 1) + size >= t->layout.positions);
}

static void tiles_cover_the_positions(void **state)
{
    (void)state;
    each_sample(check_tiles);
}

/* Stretches of rows, tile by tile as the kernels store them: count[i] becomes how often output i.
 */
static void count_outputs(const struct sample *s, int *count)
{
    const struct csrconv_tiling *t = &s->tiling;
    const int64_t size = csrconv_tiling_positions(t);
    struct csrconv_stretch_of_row *stretches = test_malloc((size_t)size * sizeof *stretches);
    for (int64_t i = 0; i < t->tiles; i++) {
        const int64_t load = csrconv_tiling_load(t, i), begin = i * size;
        const int64_t end = load + size < t->layout.positions ? load + size : t->layout.positions;
        const int64_t found = csrconv_find_stretches(&t->layout, &s->problem.shape, begin, end,
                                                     begin - load, stretches);
        assert_in_range(found, 0, size / t->layout.pitch + 2);
        for (int64_t k = 0; k < found; k++) {
            assert_in_range(stretches[k].position, 0, size - 1);
            assert_in_range(stretches[k].length, 1, size - stretches[k].position);
            for (int64_t x = 0; x < stretches[k].length; x++) {
                const int64_t output = stretches[k].output + x, w = s->problem.shape.out_w;
                assert_int_equal(output / w * t->layout.pitch + output % w,
                                 load + stretches[k].position + x);
                count[output]++;
            }
        }
    }
    test_free(stretches);
}

static void check_outputs(const struct sample *s)
{
    const int64_t outputs = s->problem.shape.out_plane;
    int *count = test_calloc((size_t)outputs, sizeof *count);
    count_outputs(s, count);
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
    const int64_t last = csrconv_tiling_load(t, t->tiles - 1) * t->layout.element + reach(t);
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

static void more_filters_than_32_bits_count_are_refused(void **state)
{
    const csrconv_geometry g = geometry_of(1, 1, 1, INT64_C(1) << 31, 1, 1);
    const struct csrconv_algorithm plain = { .traits = &plain_isa_of_8 };
    struct csrconv_problem problem = { 0 };
    (void)state;
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_fails(csrconv_tiled_refuse(&plain, &problem), CSRCONV_NOT_SUPPORTED,
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
        cmocka_unit_test(more_filters_than_32_bits_count_are_refused),
    };
    return cmocka_run_group_tests_name("tiling", tests, NULL, NULL);
}
