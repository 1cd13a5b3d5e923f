/*
 * The peers of cuDNN as far as they go without a GPU: the tensors and their layouts, which plans an
 * arithmetic allows, and what cuDNN proposes for a GPU that is only described.
 */
#include "cudnn_fixture.h"

#include "cudnn_plan.h"

#include <stdio.h>
#include <string.h>

static const struct csrconv_cudnn_math fp32 = { false, false }, tf32 = { false, true },
                                       fp16 = { true, true };
static const struct csrconv_cudnn_math *const maths[] = { &fp32, &tf32, &fp16 };

static void strides_follow_the_layout(void **state)
{
    const int64_t sizes[4] = { 2, 3, 5, 7 };
    int64_t nchw[4], nhwc[4];
    (void)state;
    csrconv_cudnn_strides(sizes, false, nchw);
    csrconv_cudnn_strides(sizes, true, nhwc);
    for (int64_t n = 0; n < 2; n++)
        for (int64_t c = 0; c < 3; c++)
            for (int64_t y = 0; y < 5; y++)
                for (int64_t x = 0; x < 7; x++) {
                    assert_int_equal(n * nchw[0] + c * nchw[1] + y * nchw[2] + x * nchw[3],
                                     ((n * 3 + c) * 5 + y) * 7 + x);
                    assert_int_equal(n * nhwc[0] + c * nhwc[1] + y * nhwc[2] + x * nhwc[3],
                                     ((n * 5 + y) * 7 + x) * 3 + c);
                }
}

static const struct csrconv_cuda_format nchw_fp32 = { false, false }, nchw_fp16 = { false, true },
                                        nhwc_fp32 = { true, false }, nhwc_fp16 = { true, true };

static struct csrconv_cudnn_sizes sizes_of(const csrconv_geometry *geometry,
                                           const struct csrconv_cuda_format *format)
{
    struct csrconv_shape shape;
    assert_ok(csrconv_shape_init(&shape, geometry));
    return csrconv_cudnn_sizes(&shape, format);
}

static void check_channels(const csrconv_geometry *g, const struct csrconv_cuda_format *format,
                           int64_t in, int64_t group, int64_t filters)
{
    const struct csrconv_cudnn_sizes sizes = sizes_of(g, format);
    assert_int_equal(sizes.in[1], in);
    assert_int_equal(sizes.weights[0], filters);
    assert_int_equal(sizes.weights[1], group);
    assert_int_equal(sizes.out[1], filters);
    assert_int_equal(sizes.in[0], g->batch);
    assert_int_equal(sizes.out[0], g->batch);
    assert_int_equal(sizes.in[3], g->width);
    assert_int_equal(sizes.weights[3], g->kernel_w);
    assert_int_equal(csrconv_cudnn_bytes(sizes.in, format),
                     g->batch * in * g->height * g->width * (format->is_half ? 2 : 4));
}

static void channels_are_filled_up_to_vectors(void **state)
{
    csrconv_geometry few = geometry_of(3, 47, 47, 9, 11, 11),
                     grouped = geometry_of(6, 9, 9, 4, 3, 3);
    const csrconv_geometry even = geometry_of(64, 9, 9, 16, 1, 1);
    (void)state;
    few.batch = 5;
    grouped.groups = 2;
    check_channels(&few, &nhwc_fp16, 8, 8, 16);
    check_channels(&few, &nhwc_fp32, 4, 4, 12);
    check_channels(&few, &nchw_fp16, 3, 3, 9);
    check_channels(&few, &nchw_fp32, 3, 3, 9);
    check_channels(&grouped, &nhwc_fp16, 6, 3, 4);
    check_channels(&even, &nhwc_fp16, 64, 64, 16);
    check_channels(&even, &nhwc_fp32, 64, 64, 16);
}

static void check_vectors(const csrconv_geometry *g, const struct csrconv_cuda_format *format,
                          bool expected)
{
    const struct csrconv_cudnn_sizes sizes = sizes_of(g, format);
    assert_int_equal(csrconv_cudnn_has_vectors(&sizes, format), expected);
}

static void vectors_are_whole_in_all_tensors_or_not_at_all(void **state)
{
    csrconv_geometry few = geometry_of(3, 47, 47, 9, 11, 11),
                     grouped = geometry_of(16, 8, 8, 32, 1, 1);
    const csrconv_geometry wide = geometry_of(3, 8, 15, 5, 8, 8);
    (void)state;
    check_vectors(&few, &nhwc_fp16, true);
    check_vectors(&few, &nhwc_fp32, true);
    check_vectors(&few, &nchw_fp16, false);
    check_vectors(&few, &nchw_fp32, false);
    check_vectors(&wide, &nchw_fp32, false);
    grouped.groups = 2;
    check_vectors(&grouped, &nhwc_fp16, true);
    grouped.groups = 4;
    check_vectors(&grouped, &nhwc_fp16, false);
    check_vectors(&grouped, &nhwc_fp32, true);
    grouped.groups = 1;
    check_vectors(&grouped, &nchw_fp32, false);
    grouped.width = 11;
    grouped.kernel_w = 4;
    check_vectors(&grouped, &nchw_fp32, false);
    grouped.width = 12;
    check_vectors(&grouped, &nchw_fp32, false);
    grouped.pad_left = 3;
    check_vectors(&grouped, &nchw_fp32, true);
    check_vectors(&grouped, &nchw_fp16, false);
}

/* What the kernels do, element by element. */
static void move(const struct csrconv_layout_move *m, const float *from, float *to)
{
    for (int64_t image = 0; image < m->images; image++) {
        const float *source = from + image * m->from_stride;
        float *target = to + image * m->to_stride;
        for (int64_t i = 0; i < m->rows * m->columns && !m->is_transposed; i++)
            target[i] = source[i];
        for (int64_t i = 0; i < m->to_pitch * m->columns && m->is_transposed; i++) {
            const int64_t row = i % m->to_pitch, column = i / m->to_pitch;
            target[i] = row < m->rows ? source[row * m->from_pitch + column] : 0.0F;
        }
    }
}

enum { IMAGES = 2, CHANNELS = 3, PLANE = 5, FILLED = 8, GAP = 4 };

static void check_inner(const float *inner, bool is_nhwc, int64_t channels)
{
    for (int64_t n = 0; n < IMAGES; n++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t p = 0; p < PLANE; p++) {
                const int64_t at = is_nhwc ? p * channels + c : c * PLANE + p;
                const int64_t outer = n * (CHANNELS * PLANE + GAP) + c * PLANE + p;
                const float expected = c < CHANNELS ? (float)(outer + 1) : 0.0F;
                assert_true(inner[n * channels * PLANE + at] == expected);
            }
}

/* There and back; gaps between the outer images stay. */
static void check_moves(bool is_nhwc, int64_t channels)
{
    enum { OUTER = IMAGES * (CHANNELS * PLANE + GAP), INNER = IMAGES * FILLED * PLANE };
    const struct csrconv_cuda_format format = { is_nhwc, false };
    const struct csrconv_cuda_images images = { IMAGES, CHANNELS, PLANE, CHANNELS * PLANE + GAP,
                                                channels };
    const struct csrconv_layout_move in = csrconv_layout_inwards(&format, &images);
    const struct csrconv_layout_move out = csrconv_layout_outwards(&format, &images);
    float outer[OUTER], inner[INNER], back[OUTER];
    for (int i = 0; i < OUTER; i++) {
        outer[i] = (float)(i + 1);
        back[i] = -1.0F;
    }
    move(&in, outer, inner);
    check_inner(inner, is_nhwc, channels);
    move(&out, inner, back);
    for (int i = 0; i < OUTER; i++)
        assert_true(back[i] == (i % images.stride < CHANNELS * PLANE ? (float)(i + 1) : -1.0F));
}

static void channels_of_zeros_come_and_go(void **state)
{
    (void)state;
    check_moves(false, CHANNELS);
    check_moves(true, CHANNELS);
    check_moves(true, 4);
    check_moves(true, FILLED);
}

static void an_arithmetic_allows_what_it_says(void **state)
{
    const unsigned tensor_core = 1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    const unsigned down = 1U << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    const unsigned reduced = 1U << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    const unsigned harmless =
        1U << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 | 1U << CUDNN_NUMERICAL_NOTE_FFT |
        1U << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC | 1U << CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
    (void)state;
    for (int i = 0; i < COUNT_OF(maths); i++) {
        assert_true(csrconv_cudnn_allows(maths[i], 0));
        assert_true(csrconv_cudnn_allows(maths[i], harmless));
        assert_false(csrconv_cudnn_allows(maths[i], down));
        assert_false(csrconv_cudnn_allows(maths[i], tensor_core | down));
        assert_int_equal(csrconv_cudnn_allows(maths[i], tensor_core), maths[i] != &fp32);
        assert_int_equal(csrconv_cudnn_allows(maths[i], reduced), maths[i] == &fp16);
    }
}

static void transforms_are_told(void **state)
{
    (void)state;
    assert_null(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_WINOGRAD), "Winograd");
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 | 1U),
                        "Winograd");
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_FFT), "FFT");
}

static csrconv_geometry plain(void)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 96, 3, 3);
    g.batch = 8;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    return g;
}

/* Everything that a geometry can have. */
static csrconv_geometry odd(void)
{
    csrconv_geometry g = geometry_of(12, 17, 23, 20, 3, 2);
    g.batch = 3;
    g.groups = 4;
    g.stride_w = 2;
    g.dilation_h = 2;
    g.pad_top = 1;
    g.pad_bottom = 3;
    g.pad_right = 2;
    return g;
}

static void check_plans(const struct csrconv_cudnn_plans *plans,
                        const struct csrconv_cudnn_math *math, bool has_vectors)
{
    int compiled = 0;
    assert_in_range(plans->count, 1, CSRCONV_CUDNN_MOST_PLANS);
    for (int i = 0; i < plans->count; i++) {
        const struct csrconv_cudnn_plan *a = &plans->plan[i];
        assert_non_null(a->plan);
        assert_true(csrconv_cudnn_allows(math, a->notes));
        compiled += a->is_compiled;
        for (int j = 0; j < i; j++)
            assert_false(a->engine == plans->plan[j].engine &&
                         strcmp(a->knobs, plans->plan[j].knobs) == 0);
    }
    assert_in_range(compiled, 0, has_vectors);
}

static void plan_problem(const csrconv_geometry *geometry, const struct csrconv_cudnn_math *math,
                         bool is_nhwc)
{
    const struct csrconv_cuda_format format = { is_nhwc, math->is_half };
    struct csrconv_cudnn_graph graph;
    struct csrconv_cudnn_plans plans;
    struct csrconv_shape shape;
    assert_ok(csrconv_shape_init(&shape, geometry));
    assert_ok(csrconv_cudnn_graph_make(NULL, &shape, &format, &graph));
    assert_ok(csrconv_cudnn_plans_find(&graph, math, &plans));
    assert_ok(csrconv_cudnn_plans_build(NULL, &plans));
    check_plans(&plans, math, graph.has_vectors);
    csrconv_cudnn_plans_free(&plans);
    csrconv_cudnn_graph_free(&graph);
}

static void every_problem_gets_plans(void **state)
{
    csrconv_geometry pointwise = geometry_of(32, 7, 7, 48, 1, 1), strided = plain(), deep = plain(),
                     few = geometry_of(3, 47, 47, 9, 11, 11);
    const csrconv_geometry ordinary = plain(), strange = odd();
    const csrconv_geometry *const all[] = {
        &ordinary, &strange, &pointwise, &strided, &deep, &few
    };
    (void)state;
    if (!described_gpu)
        skip();
    strided.stride_h = strided.stride_w = 2;
    deep.groups = 32;
    few.stride_h = few.stride_w = 4;
    for (int i = 0; i < COUNT_OF(all); i++)
        for (int m = 0; m < COUNT_OF(maths); m++)
            for (int is_nhwc = 0; is_nhwc < 2; is_nhwc++)
                plan_problem(all[i], maths[m], is_nhwc);
}

static void what_cudnn_refuses_is_told_in_its_words(void **state)
{
    const int64_t none = 0;
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &none },
    };
    cudnnBackendDescriptor_t tensor;
    (void)state;
    assert_fails(
        csrconv_cudnn_make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "the input", attributes, 1, &tensor),
        CSRCONV_NOT_SUPPORTED, "cuDNN, the input: CUDNN_STATUS_BAD_PARAM");
    assert_null(tensor);
    assert_ok(csrconv_cudnn_check(CUDNN_STATUS_SUCCESS, "nothing"));
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "a plan"),
                 CSRCONV_OUT_OF_MEMORY, "a plan");
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_EXECUTION_FAILED, "execute"),
                 CSRCONV_EXECUTION_FAILED, "execute");
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_NOT_INITIALIZED, "its handle"), CSRCONV_NO_DEVICE,
                 "its handle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_follow_the_layout),
        cmocka_unit_test(channels_are_filled_up_to_vectors),
        cmocka_unit_test(vectors_are_whole_in_all_tensors_or_not_at_all),
        cmocka_unit_test(channels_of_zeros_come_and_go),
        cmocka_unit_test(an_arithmetic_allows_what_it_says),
        cmocka_unit_test(transforms_are_told),
        cmocka_unit_test(every_problem_gets_plans),
        cmocka_unit_test(what_cudnn_refuses_is_told_in_its_words),
    };
    int failed;
    if (!describe_gpu())
        printf("plans are not tested: %s\n", csrconv_last_error());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    csrconv_cudnn_free(described_gpu);
    return failed;
}
