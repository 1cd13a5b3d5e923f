/* Weight stretching and zero borders, against what they are by definition. */
#include "helpers.h"

#include "pad.h"
#include "stretch.h"

#include <math.h>
#include <string.h>

static struct csrconv_shape shape_of(const csrconv_geometry *geometry)
{
    struct csrconv_shape shape;
    assert_ok(csrconv_shape_init(&shape, geometry));
    return shape;
}

static csrconv_geometry odd_geometry(void)
{
    csrconv_geometry g = geometry_of(6, 9, 11, 4, 3, 2);
    g.batch = 2;
    g.groups = 2;
    g.dilation_h = 2;
    g.dilation_w = 5;
    g.pad_top = 1;
    g.pad_left = 2;
    g.pad_bottom = 3;
    g.pad_right = 4;
    return g;
}

static void a_column_becomes_the_distance_in_the_padded_image(void **state)
{
    const csrconv_geometry plain = geometry_of(5, 7, 8, 1, 3, 4), odd = odd_geometry();
    const csrconv_geometry *geometries[] = { &plain, &odd };
    (void)state;
    for (int i = 0; i < COUNT_OF(geometries); i++) {
        const csrconv_geometry *g = geometries[i];
        const struct csrconv_shape shape = shape_of(g);
        const int64_t width = g->width + g->pad_left + g->pad_right;
        const int64_t plane = width * (g->height + g->pad_top + g->pad_bottom);
        int32_t column = 0;
        for (int64_t c = 0; c < g->channels / g->groups; c++)
            for (int64_t r = 0; r < g->kernel_h; r++)
                for (int64_t s = 0; s < g->kernel_w; s++)
                    assert_int_equal(csrconv_stretch_column(&shape, column++),
                                     c * plane + r * g->dilation_h * width + s * g->dilation_w);
    }
}

static void the_weights_keep_their_columns(void **state)
{
    const csrconv_geometry g = odd_geometry();
    const struct csrconv_shape shape = shape_of(&g);
    csrconv_weights *weights = weights_of(&g);
    int64_t *first = test_malloc((size_t)csrconv_nonzeros(weights) * sizeof *first);
    int64_t *second = test_malloc((size_t)csrconv_nonzeros(weights) * sizeof *second);
    (void)state;
    csrconv_stretch(&shape, weights, first);
    csrconv_stretch(&shape, weights, second);
    for (int64_t i = 0; i < csrconv_nonzeros(weights); i++) {
        assert_int_equal(first[i], csrconv_stretch_column(&shape, weights->indices[i]));
        assert_int_equal(first[i], second[i]);
        assert_in_range(weights->indices[i], 0, shape.columns - 1);
    }
    test_free(first);
    test_free(second);
    csrconv_weights_destroy(&weights);
}

/* Offsets of large padded images pass 32 bits. */
static void offsets_have_64_bits(void **state)
{
    const csrconv_geometry g = geometry_of(1 << 20, 100, 100, 1, 1, 1);
    const struct csrconv_shape shape = shape_of(&g);
    (void)state;
    assert_int_equal(csrconv_stretch_column(&shape, (1 << 20) - 1),
                     ((INT64_C(1) << 20) - 1) * 10000);
}

static float padded_element(const csrconv_geometry *g, const float *plane, int64_t y, int64_t x)
{
    y -= g->pad_top;
    x -= g->pad_left;
    return y < 0 || y >= g->height || x < 0 || x >= g->width ? 0.0F : plane[y * g->width + x];
}

static void images_get_their_borders(void **state)
{
    csrconv_geometry g = odd_geometry();
    struct csrconv_shape shape;
    float *in, *padded;
    int64_t in_floats;
    (void)state;
    g.in_batch_stride = g.channels * g.height * g.width + 7;
    shape = shape_of(&g);
    assert_true(csrconv_has_padding(&shape));
    in_floats = g.batch * g.in_batch_stride;
    in = test_malloc((size_t)in_floats * sizeof *in);
    padded = test_malloc((size_t)(g.batch * shape.padded_image) * sizeof *padded);
    fill_series(in, in_floats);
    for (int threads = 1; threads < 5; threads += 2) {
        struct csrconv_team team;
        assert_ok(csrconv_team_init(&team, threads, NULL));
        memset(padded, 0xff, (size_t)(g.batch * shape.padded_image) * sizeof *padded);
        csrconv_pad_images(&shape, &team, g.batch, in, padded);
        for (int64_t i = 0; i < g.batch * shape.padded_image; i++) {
            const int64_t n = i / shape.padded_image, c = i / shape.padded_plane % g.channels;
            const int64_t y = i / shape.padded_w % shape.padded_h, x = i % shape.padded_w;
            const float *plane = in + n * g.in_batch_stride + c * shape.plane;
            assert_true(padded[i] == padded_element(&g, plane, y, x));
        }
    }
    test_free(in);
    test_free(padded);
}

static void each_side_counts_as_padding(void **state)
{
    (void)state;
    for (int side = 0; side < 5; side++) {
        csrconv_geometry g = geometry_of(1, 4, 4, 1, 1, 1);
        int64_t *const sides[] = { &g.pad_top, &g.pad_left, &g.pad_bottom, &g.pad_right };
        struct csrconv_shape shape;
        if (side < 4)
            *sides[side] = 1;
        shape = shape_of(&g);
        assert_int_equal(csrconv_has_padding(&shape) != 0, side < 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_becomes_the_distance_in_the_padded_image),
        cmocka_unit_test(the_weights_keep_their_columns),
        cmocka_unit_test(offsets_have_64_bits),
        cmocka_unit_test(images_get_their_borders),
        cmocka_unit_test(each_side_counts_as_padding),
    };
    return cmocka_run_group_tests_name("stretch", tests, NULL, NULL);
}
