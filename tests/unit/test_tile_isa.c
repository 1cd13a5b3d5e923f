/* What each instruction set gives the blocked kernels, against the same in plain C. */
#include "tile_fixture.h"

#include "cpu_features.h"
#include "tiled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COUNT = 150, MOST_SHIFT = 17, GUARD = 32, INPUTS = 2000, NONZEROS = 9 };

static const float guard = 12345.0F;

/* Calls check with each instruction set of this machine. */
static void each_isa(void (*check)(const struct csrconv_tile_isa *isa))
{
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++)
        if ((*a)->prepare == csrconv_tiled_prepare && runs_here(*a))
            check((*a)->traits);
}

/* What a finish makes of count floats, among guards, at that distance from a line. */
static void check_finish(csrconv_finish finish, int64_t shift, int64_t count, const float *from,
                         const float *residual)
{
    float *block = aligned_alloc(64, sizeof *block * 256);
    float *to = block + GUARD + shift, want[MOST_COUNT];
    assert_non_null(block);
    for (int i = 0; i < 256; i++)
        block[i] = guard;
    plain_isa_of_8.finish(from, residual, -3.0F, 4.0F, count, want);
    finish(from, residual, -3.0F, 4.0F, count, to);
    assert_memory_equal(to, want, (size_t)count * sizeof *to);
    for (float *at = block; at < block + 256; at++)
        if (at < to || at >= to + count)
            assert_true(*at == guard);
    free(block);
}

static void check_finishes(const struct csrconv_tile_isa *isa)
{
    float from[MOST_COUNT], residual[MOST_COUNT];
    fill_series(from, COUNT_OF(from));
    fill_series(residual, COUNT_OF(residual));
    for (int64_t shift = 0; shift < MOST_SHIFT; shift++) {
        for (int64_t count = 1; count < MOST_COUNT; count++) {
            check_finish(isa->finish, shift, count, from, NULL);
            check_finish(isa->finish, shift, count, from, residual);
            check_finish(isa->finish_streamed, shift, count, from, NULL);
            check_finish(isa->finish_streamed, shift, count, from, residual);
        }
    }
    isa->settle();
}

static void outputs_are_finished_and_nothing_beside(void **state)
{
    (void)state;
    each_isa(check_finishes);
}

/* Sum i of a tile, by definition; the order does not matter with such values. */
static float plain_sum(const float *input, const struct csrconv_nonzero *nonzeros, int64_t count,
                       float start)
{
    for (int64_t i = 0; i < count; i++)
        start += nonzeros[i].value * input[nonzeros[i].offset];
    return start;
}

/* A tile whose halves lie so far apart, in the inputs and in the sums. */
static void check_kernel(const struct csrconv_tile_isa *isa, int64_t vectors, int64_t distance,
                         int64_t count, const struct csrconv_nonzero *nonzeros, bool is_first)
{
    const int64_t lanes = isa->lanes, half = (vectors + 1) / 2 * lanes;
    float *inputs = test_malloc(INPUTS * sizeof *inputs);
    float *sums = aligned_alloc(64, INPUTS * sizeof *sums);
    const struct csrconv_tile_place place = { inputs, inputs + distance, distance, lanes };
    assert_non_null(sums);
    for (int i = 0; i < INPUTS; i++) {
        inputs[i] = (float)(i % 97);
        sums[i] = (float)(i % 89);
    }
    isa->kernels[vectors - 1](&place, nonzeros, nonzeros + count, is_first ? NULL : sums, 7.0F,
                              sums, sums);
    for (int64_t i = 0; i < half; i++) /* what the other half did not write over */
        if (vectors == 1 || i < distance)
            assert_true(sums[i] ==
                        plain_sum(inputs + i, nonzeros, count, is_first ? 7.0F : (float)(i % 89)));
    for (int64_t i = distance; i < distance + vectors / 2 * lanes; i++)
        assert_true(sums[i] ==
                    plain_sum(inputs + i, nonzeros, count, is_first ? 7.0F : (float)(i % 89)));
    free(sums);
    test_free(inputs);
}

/* The halves next to each other, overlapping, and apart as two rows are. */
static void check_kernels(const struct csrconv_tile_isa *isa)
{
    struct csrconv_nonzero nonzeros[NONZEROS];
    for (int i = 0; i < NONZEROS; i++)
        nonzeros[i] = (struct csrconv_nonzero){ i * 7 % 31, (float)(i - 4) };
    for (int64_t vectors = 1; vectors <= isa->most_vectors; vectors++) {
        const int64_t half = (vectors + 1) / 2 * isa->lanes;
        for (int64_t count = 0; count <= NONZEROS; count++) {
            check_kernel(isa, vectors, half, count, nonzeros, count % 2);
            check_kernel(isa, vectors, half - 1, count, nonzeros, count % 2);
            check_kernel(isa, vectors, half - isa->lanes + 1, count, nonzeros, count % 2);
            check_kernel(isa, vectors, 3 * half, count, nonzeros, count % 2);
        }
    }
}

static void kernels_sum_both_halves(void **state)
{
    (void)state;
    each_isa(check_kernels);
}

/* The lanes behind are not read: NaN there would show in no sum, but it is not there to be read. */
static void check_cut_vector(const struct csrconv_tile_isa *isa)
{
    const struct csrconv_nonzero nonzeros[] = { { 0, 1.0F }, { 1, 2.0F }, { 2, 3.0F } };
    for (int64_t count = 1; count < isa->lanes; count++) {
        float *inputs = test_malloc((size_t)(count + 2) * sizeof *inputs);
        float *sums = aligned_alloc(64, 64);
        const struct csrconv_tile_place place = { inputs, inputs, 0, count };
        assert_non_null(sums);
        fill_series(inputs, count + 2);
        isa->kernels[0](&place, nonzeros, nonzeros + COUNT_OF(nonzeros), NULL, 0.0F, sums, sums);
        for (int64_t i = 0; i < count; i++)
            assert_float_equal(sums[i], plain_sum(inputs + i, nonzeros, 3, 0.0F), 1e-4F);
        free(sums);
        test_free(inputs);
    }
}

static void a_cut_vector_has_its_sums(void **state)
{
    (void)state;
    each_isa(check_cut_vector);
}

static void check_squares(const struct csrconv_tile_isa *isa)
{
    float from[16 * 20], to[16 * 18];
    const int64_t lanes = isa->lanes;
    fill_series(from, COUNT_OF(from));
    for (int64_t columns = 1; columns <= lanes; columns++) {
        for (int i = 0; i < COUNT_OF(to); i++)
            to[i] = guard;
        isa->transpose(from, 20, columns, to, 18);
        for (int64_t j = 0; j < lanes; j++)
            for (int64_t i = 0; i < 18; i++)
                assert_true(to[j * 18 + i] ==
                            (j < columns && i < lanes ? from[i * 20 + j] : guard));
    }
}

static void squares_are_turned(void **state)
{
    (void)state;
    each_isa(check_squares);
}

/* The plan must store past the caches: else the comparison would be of the other stores. */
static void assert_streamed(const csrconv_algorithm *algorithm, const csrconv_geometry *g,
                            const csrconv_weights *weights)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan_options options;
    csrconv_plan *plan;
    csrconv_plan_options_init(&options);
    options.algorithm = info_of(algorithm).name;
    assert_ok(csrconv_plan_create(weights, g, &options, &plan));
    assert_ok(csrconv_plan_describe(plan, &info));
    assert_non_null(strstr(info.detail, "output past the caches"));
    csrconv_plan_destroy(&plan);
}

/* The algorithm's outputs and those of the specification, which are whole numbers. */
static void check_streamed(const csrconv_algorithm *algorithm, const csrconv_geometry *g)
{
    struct random_state random;
    csrconv_weights *weights;
    struct layer layer = layer_of(g, NULL, NULL);
    const int64_t in_floats = layer_in_floats(&layer), out_floats = layer_out_floats(&layer);
    float *in = test_malloc((size_t)in_floats * sizeof *in);
    float *want = test_calloc((size_t)out_floats, sizeof *want);
    float *got = test_calloc((size_t)out_floats, sizeof *got);
    random_seed(&random, 5);
    weights = random_weights(&random, g);
    assert_streamed(algorithm, g, weights);
    for (int64_t i = 0; i < in_floats; i++)
        in[i] = (float)random_between(&random, 0, 100);
    layer.weights = weights;
    layer.in = in;
    layer_run(&layer, csrconv_algorithms()[0], want);
    layer_run(&layer, algorithm, got);
    assert_int_equal(memcmp(got, want, (size_t)out_floats * sizeof *got), 0);
    test_free(got);
    test_free(want);
    test_free(in);
    csrconv_weights_destroy(&weights);
}

/* Of one image, and of vectors of images. Where the last cache is huge it would take too long. */
static void check_large_outputs(const csrconv_algorithm *algorithm)
{
    const int64_t floats = csrconv_cache_bytes(3) / (int64_t)sizeof(float);
    const int64_t pixels = 100 * 1000 + 1, size = 28;
    csrconv_geometry g = geometry_of(1, 1, pixels, floats / pixels + 1, 1, 1);
    if (algorithm->prepare != csrconv_tiled_prepare)
        return;
    if (floats > (100 << 20) / (int)sizeof(float)) {
        print_message("skipped: a last cache of %lld floats\n", (long long)floats);
        return;
    }
    check_streamed(algorithm, &g);
    g = geometry_of(64, size, size, floats / 8 / (32 * size * size) + 1, 3, 3);
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    g.batch = 32;
    check_streamed(algorithm, &g);
}

static void outputs_beyond_the_caches_are_the_same(void **state)
{
    (void)state;
    each_own_algorithm(check_large_outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_finished_and_nothing_beside),
        cmocka_unit_test(kernels_sum_both_halves),
        cmocka_unit_test(a_cut_vector_has_its_sums),
        cmocka_unit_test(squares_are_turned),
        cmocka_unit_test(outputs_beyond_the_caches_are_the_same),
    };
    return cmocka_run_group_tests_name("tile_isa", tests, NULL, NULL);
}
