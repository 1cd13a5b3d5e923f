/* Output sizes, and every way in which a geometry can be none. */
#include "helpers.h"

#include "geometry.h"

#include <string.h>

static void set_member(csrconv_geometry *g, size_t offset, int64_t value)
{
    memcpy((char *)g + offset, &value, sizeof value);
}

/* Up to four members of a geometry that is fine otherwise, and what is said. */
struct change {
    size_t offset;
    int64_t value;
};

struct bad_case {
    struct change changes[5];
    const char *fragment;
};

#define AT(member) offsetof(csrconv_geometry, member)

static void outputs_follow_the_formula(void **state)
{
    static const struct {
        int64_t h, w, r, s, sh, sw, dh, dw, pt, pl, pb, pr, out_h, out_w;
    } cases[] = {
        { 7, 7, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 7, 7 },
        { 227, 227, 11, 11, 4, 4, 1, 1, 0, 0, 0, 0, 55, 55 },
        { 224, 224, 7, 7, 2, 2, 1, 1, 3, 3, 3, 3, 112, 112 },
        { 13, 17, 3, 5, 1, 1, 1, 1, 1, 2, 1, 2, 13, 17 },
        { 8, 9, 3, 3, 1, 1, 1, 1, 0, 2, 1, 0, 7, 9 },
        { 14, 14, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 14, 14 },
        { 23, 25, 3, 3, 2, 3, 3, 2, 3, 2, 3, 2, 12, 9 },
        { 3, 2, 5, 7, 1, 1, 1, 1, 2, 3, 2, 3, 3, 2 },
        { 32, 33, 31, 31, 1, 1, 1, 1, 15, 15, 15, 15, 32, 33 },
        { 5, 5, 2, 2, 7, 9, 1, 1, 0, 0, 0, 0, 1, 1 },
        { 3, 3, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1 },
        { 1, 1, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0, 0, 0, 1, 1 },
        { 4, 4, 4, 4, 1, INT64_MAX, 1, 1, 0, 0, 0, 0, 1, 1 },
    };
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        csrconv_geometry g = geometry_of(2, cases[i].h, cases[i].w, 3, cases[i].r, cases[i].s);
        int64_t out_h, out_w;
        g.stride_h = cases[i].sh;
        g.stride_w = cases[i].sw;
        g.dilation_h = cases[i].dh;
        g.dilation_w = cases[i].dw;
        g.pad_top = cases[i].pt;
        g.pad_left = cases[i].pl;
        g.pad_bottom = cases[i].pb;
        g.pad_right = cases[i].pr;
        assert_ok(csrconv_output_size(&g, &out_h, &out_w));
        assert_int_equal(out_h, cases[i].out_h);
        assert_int_equal(out_w, cases[i].out_w);
    }
}

static void steps_are_limited_to_the_padded_input(void **state)
{
    csrconv_geometry g = geometry_of(1, 4, 5, 1, 1, 1);
    struct csrconv_shape shape;
    (void)state;
    g.stride_h = g.stride_w = g.dilation_h = g.dilation_w = INT64_MAX;
    g.pad_top = g.pad_right = 2;
    assert_ok(csrconv_shape_init(&shape, &g));
    assert_int_equal(shape.g.stride_h, 6);
    assert_int_equal(shape.g.stride_w, 7);
    assert_int_equal(shape.g.dilation_h, 6);
    assert_int_equal(shape.g.dilation_w, 7);
    assert_int_equal(shape.out_h, 1);
    assert_int_equal(shape.out_w, 1);
}

static void the_init_function_gives_a_plain_convolution(void **state)
{
    csrconv_geometry g;
    (void)state;
    memset(&g, 0xff, sizeof g);
    csrconv_geometry_init(&g);
    assert_int_equal(g.struct_size, sizeof g);
    assert_int_equal(g.batch, 1);
    assert_int_equal(g.stride_h * g.stride_w * g.dilation_h * g.dilation_w * g.groups, 1);
    assert_int_equal(g.pad_top | g.pad_left | g.pad_bottom | g.pad_right, 0);
    assert_int_equal(g.in_batch_stride | g.out_batch_stride, 0);
    assert_int_equal(g.channels | g.height | g.width | g.filters | g.kernel_h | g.kernel_w, 0);
}

static void either_pointer_may_be_null(void **state)
{
    const csrconv_geometry g = geometry_of(1, 5, 6, 1, 2, 2);
    int64_t size = 0;
    (void)state;
    assert_ok(csrconv_output_size(&g, NULL, NULL));
    assert_ok(csrconv_output_size(&g, &size, NULL));
    assert_int_equal(size, 4);
    assert_ok(csrconv_output_size(&g, NULL, &size));
    assert_int_equal(size, 5);
}

static void every_bad_member_is_named(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
        int64_t least;
    } members[] = {
        { "batch", AT(batch), 1 },
        { "channels", AT(channels), 1 },
        { "height", AT(height), 1 },
        { "width", AT(width), 1 },
        { "filters", AT(filters), 1 },
        { "kernel_h", AT(kernel_h), 1 },
        { "kernel_w", AT(kernel_w), 1 },
        { "stride_h", AT(stride_h), 1 },
        { "stride_w", AT(stride_w), 1 },
        { "dilation_h", AT(dilation_h), 1 },
        { "dilation_w", AT(dilation_w), 1 },
        { "pad_top", AT(pad_top), 0 },
        { "pad_left", AT(pad_left), 0 },
        { "pad_bottom", AT(pad_bottom), 0 },
        { "pad_right", AT(pad_right), 0 },
        { "groups", AT(groups), 1 },
        { "in_batch_stride", AT(in_batch_stride), 0 },
        { "out_batch_stride", AT(out_batch_stride), 0 },
    };
    (void)state;
    for (int i = 0; i < COUNT_OF(members); i++) {
        const int64_t values[] = { members[i].least - 1, -7, INT64_MIN };
        for (int j = 0; j < COUNT_OF(values); j++) {
            csrconv_geometry g = geometry_of(4, 6, 6, 4, 3, 3);
            set_member(&g, members[i].offset, values[j]);
            assert_fails(csrconv_output_size(&g, NULL, NULL), CSRCONV_BAD_GEOMETRY,
                         members[i].name);
        }
    }
}

static void refuse_all(const struct bad_case *cases, int count)
{
    for (int i = 0; i < count; i++) {
        csrconv_geometry g = geometry_of(4, 6, 6, 4, 3, 3);
        int64_t out_h = -3, out_w = -4;
        for (const struct change *c = cases[i].changes; c->offset; c++)
            set_member(&g, c->offset, c->value);
        assert_fails(csrconv_output_size(&g, &out_h, &out_w), CSRCONV_BAD_GEOMETRY,
                     cases[i].fragment);
        assert_int_equal(out_h, -3);
        assert_int_equal(out_w, -4);
    }
}

static void impossible_combinations_are_refused(void **state)
{
    static const struct bad_case cases[] = {
        { { { AT(groups), 3 } }, "groups 3 does not divide channels 4" },
        { { { AT(groups), 2 }, { AT(filters), 5 } }, "groups 2 does not divide filters 5" },
        { { { AT(kernel_h), 7 } }, "a kernel of 7" },
        { { { AT(kernel_w), 7 } }, "padded width of 6" },
        { { { AT(dilation_h), 3 } }, "dilation 3" },
        { { { AT(kernel_w), 10 }, { AT(pad_left), 1 }, { AT(pad_right), 2 } }, "width of 9" },
        { { { AT(in_batch_stride), 4 * 36 - 1 } }, "in_batch_stride is 143, an image has 144" },
        { { { AT(out_batch_stride), 4 * 16 - 1 } }, "out_batch_stride is 63, an image has 64" },
    };
    (void)state;
    refuse_all(cases, COUNT_OF(cases));
}

static void every_product_that_overflows_is_refused(void **state)
{
    static const int64_t big = INT64_C(1) << 31, most = INT64_MAX;
    const struct bad_case cases[] = {
        { { { AT(pad_top), most } }, "height with its padding" },
        { { { AT(pad_bottom), most } }, "height with its padding" },
        { { { AT(pad_left), most } }, "width with its padding" },
        { { { AT(pad_right), most } }, "width with its padding" },
        { { { AT(pad_top), most / 2 }, { AT(pad_bottom), most / 2 } }, "height with its padding" },
        { { { AT(height), most }, { AT(pad_top), 1 } }, "height with its padding" },
        { { { AT(dilation_h), most } }, "does not fit" },
        { { { AT(dilation_w), most / 2 + 1 } }, "does not fit" },
        { { { AT(kernel_h), most } }, "does not fit" },
        { { { AT(height), 2 * big },
            { AT(width), 2 * big },
            { AT(kernel_h), 2 * big },
            { AT(kernel_w), 2 * big } },
          "kernel_h * kernel_w" },
        { { { AT(channels), most } }, "channels / groups * kernel_h * kernel_w" },
        { { { AT(height), 2 * big }, { AT(width), 2 * big } }, "channels * height * width" },
        { { { AT(channels), most / 9 } }, "channels * height * width" },
        { { { AT(pad_top), 2 * big }, { AT(pad_left), 2 * big } }, "padded height" },
        { { { AT(pad_right), most / 8 } }, "padded height" },
        { { { AT(filters), most } }, "filters * out_height * out_width" },
        { { { AT(in_batch_stride), most } }, "in_batch_stride" },
        { { { AT(in_batch_stride), most / 4 }, { AT(batch), 2 } }, "in_batch_stride" },
        { { { AT(out_batch_stride), most } }, "out_batch_stride" },
        { { { AT(out_batch_stride), 1 << 20 }, { AT(batch), big << 20 } }, "batch_stride" },
        { { { AT(batch), most } }, "batch" },
        { { { AT(pad_top), big / 2 },
            { AT(pad_left), big / 2 },
            { AT(stride_h), big },
            { AT(stride_w), big } },
          "batch * channels * padded height * padded width" },
    };
    (void)state;
    refuse_all(cases, COUNT_OF(cases));
}

static void bad_calls_are_told_apart(void **state)
{
    csrconv_geometry g = geometry_of(4, 6, 6, 4, 3, 3);
    (void)state;
    assert_fails(csrconv_output_size(NULL, NULL, NULL), CSRCONV_BAD_ARGUMENT, "geometry");
    g.struct_size = 0;
    assert_fails(csrconv_output_size(&g, NULL, NULL), CSRCONV_VERSION_MISMATCH,
                 "csrconv_geometry.struct_size is 0");
    g.struct_size = sizeof g + 8;
    assert_fails(csrconv_output_size(&g, NULL, NULL), CSRCONV_VERSION_MISMATCH,
                 "csrconv_geometry.struct_size");
}

static void a_shape_has_what_follows_from_it(void **state)
{
    csrconv_geometry g = geometry_of(6, 5, 7, 4, 3, 2);
    struct csrconv_shape s;
    (void)state;
    g.groups = 2;
    g.pad_top = 1;
    g.pad_left = 2;
    g.pad_bottom = 3;
    g.pad_right = 4;
    assert_ok(csrconv_shape_init(&s, &g));
    assert_int_equal(s.padded_h, 9);
    assert_int_equal(s.padded_w, 13);
    assert_int_equal(s.group_channels, 3);
    assert_int_equal(s.group_filters, 2);
    assert_int_equal(s.columns, 3 * 3 * 2);
    assert_int_equal(s.padded_plane, 9 * 13);
    assert_int_equal(s.padded_image, 6 * 9 * 13);
    assert_int_equal(s.out_plane, 7 * 12);
    assert_int_equal(s.in_image, 6 * 5 * 7);
    assert_int_equal(s.out_image, 4 * 7 * 12);
    assert_int_equal(s.g.in_batch_stride, s.in_image);
    assert_int_equal(s.g.out_batch_stride, s.out_image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_follow_the_formula),
        cmocka_unit_test(steps_are_limited_to_the_padded_input),
        cmocka_unit_test(the_init_function_gives_a_plain_convolution),
        cmocka_unit_test(either_pointer_may_be_null),
        cmocka_unit_test(every_bad_member_is_named),
        cmocka_unit_test(impossible_combinations_are_refused),
        cmocka_unit_test(every_product_that_overflows_is_refused),
        cmocka_unit_test(bad_calls_are_told_apart),
        cmocka_unit_test(a_shape_has_what_follows_from_it),
    };
    return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
