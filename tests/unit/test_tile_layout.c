/* Phase planes: where an output and a weight meet, the padded input must stand. */
#include "tile_fixture.h"

#include "tile_layout.h"
#include "tile_pack.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 400 };

/* A random layer, laid out: all channels of one block of images. */
struct laid_out {
    csrconv_geometry geometry;
    struct csrconv_shape shape;
    struct csrconv_tile_layout layout;
    struct csrconv_run run;
    struct csrconv_image_block block;
    float *in, *image;
    int64_t floats; /* of image, without the guard behind it */
};

static const float guard = 12345.0F;

static void make_input(struct random_state *state, struct laid_out *l)
{
    const int64_t floats = l->shape.g.batch * l->shape.g.in_batch_stride;
    l->in = test_malloc((size_t)floats * sizeof *l->in);
    for (int64_t i = 0; i < floats; i++)
        l->in[i] = (float)random_between(state, 1, 1000);
    l->run = (struct csrconv_run){ .shape = &l->shape, .n = l->shape.g.batch, .in = l->in };
}

static void make(struct random_state *state, const struct csrconv_tile_isa *isa, bool in_lanes,
                 struct laid_out *l)
{
    const int64_t images = in_lanes ? isa->lanes : 1;
    l->geometry = random_geometry(state);
    assert_ok(csrconv_shape_init(&l->shape, &l->geometry));
    assert_ok(csrconv_tile_layout_init(&l->layout, &l->shape, isa->lanes, in_lanes));
    l->layout.channel_stride += random_between(state, 0, 20); /* planes may be moved apart */
    make_input(state, l);
    l->block.run = &l->run;
    l->block.first = random_between(state, 0, l->shape.g.batch - 1);
    l->block.count = l->shape.g.batch - l->block.first;
    if (l->block.count > images)
        l->block.count = images;
    l->floats = l->shape.g.channels * l->layout.channel_stride * l->layout.element;
    l->image = test_malloc((size_t)(l->floats + 1) * sizeof *l->image);
    memset(l->image, 0xff, (size_t)l->floats * sizeof *l->image);
    l->image[l->floats] = guard;
    for (int64_t c = 0; c < l->shape.g.channels; c++)
        csrconv_pack_channels(&l->layout, isa, &l->block, c, c + 1,
                              l->image + c * l->layout.channel_stride * l->layout.element);
}

static void release(struct laid_out *l)
{
    test_free(l->in);
    test_free(l->image);
}

/* What the output at padded (y, x) of image i of the block meets, by definition. */
static float padded_element(const struct laid_out *l, int64_t i, int64_t c, int64_t y, int64_t x)
{
    const csrconv_geometry *g = &l->shape.g;
    const int64_t n = l->block.first + i;
    y -= g->pad_top;
    x -= g->pad_left;
    if (i >= l->block.count || y < 0 || y >= g->height || x < 0 || x >= g->width)
        return 0.0F;
    return l->in[n * g->in_batch_stride + (c * g->height + y) * g->width + x];
}

static void check_weight(const struct laid_out *l, int64_t c, int64_t r, int64_t s)
{
    const csrconv_geometry *g = &l->shape.g;
    const int64_t offset = csrconv_tile_offset(&l->layout, &l->shape, c, r, s);
    for (int64_t y = 0; y < l->shape.out_h; y++) {
        for (int64_t x = 0; x < l->shape.out_w; x++) {
            const int64_t at = offset + (y * l->layout.pitch + x) * l->layout.element;
            assert_in_range(at, 0, l->floats - l->layout.element);
            for (int64_t i = 0; i < l->layout.element; i++)
                assert_true(l->image[at + i] ==
                            padded_element(l, i, c, y * g->stride_h + r * g->dilation_h,
                                           x * g->stride_w + s * g->dilation_w));
        }
    }
}

static void check_layer(struct random_state *state, const struct csrconv_tile_isa *isa,
                        bool in_lanes)
{
    struct laid_out l;
    make(state, isa, in_lanes, &l);
    assert_true(l.image[l.floats] == guard);
    for (int64_t i = 0; i < l.floats; i++)
        assert_false(isnan(l.image[i]));
    for (int64_t c = 0; c < l.shape.g.channels; c++)
        for (int64_t r = 0; r < l.shape.g.kernel_h; r++)
            for (int64_t s = 0; s < l.shape.g.kernel_w; s++)
                check_weight(&l, c, r, s);
    release(&l);
}

static void every_weight_meets_the_padded_input(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 1);
    for (int i = 0; i < ROUNDS; i++) {
        check_layer(&random, &plain_isa_of_8, i % 2);
        check_layer(&random, &plain_isa_of_16, i % 2);
    }
}

/* As far out as a layout reaches, moved apart by as much as tiling.c may. */
static void distances_keep_to_32_bits(void **state)
{
    struct random_state random;
    int refused = 0;
    (void)state;
    random_seed(&random, 2);
    for (int i = 0; i < 100 * ROUNDS; i++) {
        const int64_t lanes = i % 2 ? 8 : 16;
        csrconv_geometry g = random_geometry(&random);
        struct csrconv_shape shape;
        struct csrconv_tile_layout layout;
        g.groups = 1;
        g.batch = 1;
        g.channels = 1;
        assert_ok(csrconv_shape_init(&shape, &g));
        /* About the most channels that are not refused, or some more. */
        g.channels = INT32_MAX / 4 / lanes / shape.padded_plane + random_between(&random, -1, 1);
        assert_ok(csrconv_shape_init(&shape, &g));
        if (csrconv_tile_layout_init(&layout, &shape, lanes, i % 4 < 2)) {
            refused++;
            continue;
        }
        assert_in_range(
            csrconv_tile_offset(&layout, &shape, g.channels - 1, g.kernel_h - 1, g.kernel_w - 1), 0,
            INT32_MAX);
    }
    assert_in_range(refused, 1, 100 * ROUNDS - 1);
}

static void a_larger_image_is_refused(void **state)
{
    csrconv_geometry g = geometry_of(1 << 20, 32, 32, 1, 1, 1);
    struct csrconv_shape shape;
    struct csrconv_tile_layout layout;
    (void)state;
    assert_ok(csrconv_shape_init(&shape, &g));
    assert_fails(csrconv_tile_layout_init(&layout, &shape, 8, false), CSRCONV_NOT_SUPPORTED,
                 "1073741824 floats");
}

/* A 3x3 layer with borders of one: a row shares its border with the next one. */
static void rows_share_their_borders(void **state)
{
    csrconv_geometry g = geometry_of(1, 7, 7, 1, 3, 3);
    struct csrconv_shape shape;
    struct csrconv_tile_layout layout;
    (void)state;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    assert_ok(csrconv_shape_init(&shape, &g));
    assert_ok(csrconv_tile_layout_init(&layout, &shape, 8, false));
    assert_int_equal(layout.pitch, 8);
    assert_int_equal(layout.positions, 6 * 8 + 7);
}

static int64_t window_positions(const struct laid_out *l, int64_t rows, int64_t columns)
{
    const struct csrconv_tile_window window =
        csrconv_tile_window_of(&l->layout, &l->shape, rows, columns);
    return csrconv_tile_window_bytes(&l->layout, &window) / (int64_t)sizeof(float);
}

/* The positions of a phase plane that a tile at output (0, 0) reads, counted one by one. */
static int64_t counted_positions(const struct laid_out *l, int64_t rows, int64_t columns)
{
    const csrconv_geometry *g = &l->shape.g;
    char *is_read = test_calloc((size_t)l->layout.channel_stride, 1);
    int64_t count = 0;
    for (int64_t r = 0; r < g->kernel_h; r++)
        for (int64_t s = 0; s < g->kernel_w; s++)
            for (int64_t y = 0; y < rows; y++)
                for (int64_t x = 0; x < columns; x++)
                    is_read[csrconv_tile_offset(&l->layout, &l->shape, 0, r, s) +
                            y * l->layout.pitch + x] = 1;
    for (int64_t i = 0; i < l->layout.channel_stride; i++)
        count += is_read[i];
    test_free(is_read);
    return count;
}

/* Exact where the kernel has no gaps; with gaps it counts them too. */
static void windows_hold_what_tiles_read(void **state)
{
    struct random_state random;
    (void)state;
    random_seed(&random, 3);
    for (int i = 0; i < ROUNDS; i++) {
        struct laid_out l = { .geometry = random_geometry(&random) };
        int64_t rows, columns, read, window;
        assert_ok(csrconv_shape_init(&l.shape, &l.geometry));
        assert_ok(csrconv_tile_layout_init(&l.layout, &l.shape, 8, false));
        rows = random_between(&random, 1, l.shape.out_h < 2 ? l.shape.out_h : 2);
        columns = random_between(&random, 1, l.shape.out_w);
        read = counted_positions(&l, rows, columns);
        window = window_positions(&l, rows, columns);
        assert_in_range(read, 1, window);
        if (l.geometry.dilation_h == 1 && l.geometry.dilation_w == 1 && l.geometry.stride_h == 1 &&
            l.geometry.stride_w == 1)
            assert_int_equal(read, window);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_weight_meets_the_padded_input),
        cmocka_unit_test(distances_keep_to_32_bits),
        cmocka_unit_test(a_larger_image_is_refused),
        cmocka_unit_test(rows_share_their_borders),
        cmocka_unit_test(windows_hold_what_tiles_read),
    };
    return cmocka_run_group_tests_name("tile_layout", tests, NULL, NULL);
}
