/* Lowerings of the GPU's GEMM and SpMM peers: nothing overlaps, nothing is left out. */
#include "tile_fixture.h"

#include "divisor.h"
#include "lowering.h"

#include <stdlib.h>

enum { ROUNDS = 300, WAYS = 5, MOST = WAYS * CSRCONV_LOWERING_CHUNKS };

static const enum csrconv_lowering_way all_ways[WAYS] = {
    CSRCONV_LOWER_IMAGES,      CSRCONV_LOWER_WIDE,        CSRCONV_LOWER_PIXELS,
    CSRCONV_LOWER_PIXELS_WIDE, CSRCONV_LOWER_PIXELS_NHWC,
};

static struct csrconv_shape shape_of(int64_t batch, int64_t channels, int64_t size, int64_t filters,
                                     int64_t kernel)
{
    csrconv_geometry g = geometry_of(channels, size, size, filters, kernel, kernel);
    struct csrconv_shape shape;
    g.batch = batch;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = kernel / 2;
    assert_ok(csrconv_shape_init(&shape, &g));
    return shape;
}

/* Each element of a matrix of images, rows and pixels has a place of its own below `floats`. */
static void check_places(const struct csrconv_strides *s, int64_t images, int64_t rows,
                         int64_t pixels, int64_t floats)
{
    char *taken = calloc((size_t)floats, 1);
    assert_non_null(taken);
    for (int64_t n = 0; n < images; n++)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t pixel = 0; pixel < pixels; pixel++) {
                const int64_t at = n * s->image + row * s->row + pixel * s->pixel;
                assert_in_range(at, 0, floats - 1);
                assert_int_equal(taken[at], 0);
                taken[at] = 1;
            }
    free(taken);
}

static void check_matrices(const struct csrconv_shape *shape, const struct csrconv_lowering *l)
{
    if (!l->is_in_place)
        check_places(&l->lowered, l->images, shape->g.groups * shape->columns, shape->out_plane,
                     l->lowered_floats);
    if (csrconv_lowering_is_wide(l))
        check_places(&l->product, l->images, shape->g.filters, shape->out_plane, l->product_floats);
    assert_true(csrconv_lowering_product_at(l) >= (size_t)l->lowered_floats * sizeof(float));
    assert_true(csrconv_lowering_bytes(l) >=
                csrconv_lowering_product_at(l) + (size_t)l->product_floats * sizeof(float));
    assert_int_equal(csrconv_lowering_product_at(l) % 256, 0);
    assert_int_equal(csrconv_lowering_bytes(l) % 256, 0);
}

static void places_are_apart(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 7);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        struct csrconv_shape shape;
        struct csrconv_lowering l;
        assert_ok(csrconv_shape_init(&shape, &g));
        csrconv_lowering_init(&shape, all_ways[i % WAYS], random_between(&random, 1, g.batch), &l);
        check_matrices(&shape, &l);
    }
}

/* All images in one product are one row of pixels, which the library gets as a matrix. */
static void wide_images_follow_each_other(void **state)
{
    const struct csrconv_shape shape = shape_of(5, 3, 7, 4, 3);
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        struct csrconv_lowering l;
        csrconv_lowering_init(&shape, all_ways[i], 5, &l);
        if (!csrconv_lowering_is_wide(&l))
            continue;
        assert_int_equal(l.lowered.image, shape.out_plane * l.lowered.pixel);
        assert_int_equal(l.product.image, shape.out_plane * l.product.pixel);
    }
}

static void a_1x1_layer_is_its_own_matrix(void **state)
{
    struct csrconv_shape shape = shape_of(4, 8, 7, 4, 1);
    struct csrconv_lowering l;
    (void)state;
    csrconv_lowering_init(&shape, CSRCONV_LOWER_IMAGES, 4, &l);
    assert_true(l.is_in_place);
    assert_false(csrconv_lowering_is_whole(&l, &shape));
    assert_int_equal(csrconv_lowering_bytes(&l), 0);
    assert_int_equal(l.lowered.image, shape.g.in_batch_stride);
    csrconv_lowering_init(&shape, CSRCONV_LOWER_WIDE, 4, &l);
    assert_false(l.is_in_place);
    shape = shape_of(4, 8, 7, 4, 3);
    csrconv_lowering_init(&shape, CSRCONV_LOWER_IMAGES, 4, &l);
    assert_false(l.is_in_place);
    assert_true(csrconv_lowering_is_whole(&l, &shape));
}

static void candidates_are_whole_and_cached(void **state)
{
    const struct csrconv_shape shape = shape_of(128, 256, 13, 384, 3);
    struct csrconv_lowering found[MOST];
    const int64_t cache = INT64_C(25) << 20;
    const int count = csrconv_lowering_candidates(&shape, all_ways, WAYS, cache, found);
    (void)state;
    assert_int_equal(count, MOST);
    for (int i = 0; i < count; i++) {
        assert_int_equal(found[i].way, all_ways[i / 2]);
        if (i % 2 == 0)
            assert_int_equal(found[i].images, 128);
        else
            assert_in_range(found[i].lowered_floats * 4, cache / 2, cache);
    }
}

static void candidates_of_one_image_are_not_doubled(void **state)
{
    const struct csrconv_shape shape = shape_of(1, 16, 14, 8, 3);
    struct csrconv_lowering found[MOST];
    const int count = csrconv_lowering_candidates(&shape, all_ways, WAYS, 1 << 20, found);
    (void)state;
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++)
        assert_true(found[i].way != CSRCONV_LOWER_WIDE &&
                    found[i].way != CSRCONV_LOWER_PIXELS_WIDE);
}

static void large_batches_are_cut(void **state)
{
    const struct csrconv_shape shape = shape_of(1024, 256, 56, 64, 3);
    struct csrconv_lowering found[MOST];
    const int count = csrconv_lowering_candidates(&shape, all_ways, WAYS, 1 << 20, found);
    (void)state;
    assert_int_not_equal(count, 0);
    for (int i = 0; i < count; i++) {
        assert_in_range(found[i].images, 1, 1023);
        assert_in_range(found[i].lowered_floats * 4, 1, INT64_C(2) << 30);
    }
}

static void pieces_are_even(void **state)
{
    (void)state;
    assert_int_equal(csrconv_piece_of(1, 1048560, 8), 1);
    assert_int_equal(csrconv_piece_of(1048560, 1048560, 8), 1048560);
    assert_int_equal(csrconv_piece_of(1605632, 1048560, 8), 802816);
    assert_int_equal(csrconv_piece_of(1048561, 1048560, 8), 524288);
    assert_int_equal(csrconv_piece_of(65536, 65535, 1), 32768);
    assert_int_equal(csrconv_piece_of(128, 83, 1), 64);
    for (int64_t all = 1; all < 400; all++)
        for (int64_t most = 8; most < 64; most += 8) {
            const int64_t piece = csrconv_piece_of(all, most, 8);
            assert_in_range(piece, 1, most);
            assert_true(piece == all || piece % 8 == 0);
        }
}

static void divisors_divide(void **state)
{
    static const int64_t by[] = { 1, 2, 3, 7, 9, 25, 49, 121, 1023, 1024, 65537, 2147483647 };
    struct random_state random;
    (void)state;
    random_seed(&random, 11);
    for (int i = 0; i < COUNT_OF(by); i++) {
        const struct csrconv_divisor divisor = csrconv_divisor_of(by[i]);
        for (int64_t near = 0; near <= INT32_MAX; near += INT32_MAX / 64)
            for (int64_t n = near / by[i] * by[i] - 1; n <= near / by[i] * by[i] + 1; n++)
                if (n >= 0 && n <= INT32_MAX)
                    assert_int_equal(csrconv_divide(divisor, (int32_t)n), n / by[i]);
        for (int round = 0; round < 1000; round++) {
            const int64_t n = random_between(&random, 0, INT32_MAX);
            assert_int_equal(csrconv_divide(divisor, (int32_t)n), n / by[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_apart),
        cmocka_unit_test(wide_images_follow_each_other),
        cmocka_unit_test(a_1x1_layer_is_its_own_matrix),
        cmocka_unit_test(candidates_are_whole_and_cached),
        cmocka_unit_test(candidates_of_one_image_are_not_doubled),
        cmocka_unit_test(large_batches_are_cut),
        cmocka_unit_test(pieces_are_even),
        cmocka_unit_test(divisors_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
