/* What the numbers mean: NaN and infinity, epilogues, repeatability; of every own algorithm. */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 7, PLANE = SIZE * SIZE };

/* 2 channels, 3 filters, 3x3 padded by 1: outputs of the inputs' size. */
static csrconv_geometry small_geometry(void)
{
    csrconv_geometry g = geometry_of(2, SIZE, SIZE, 3, 3, 3);
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    return g;
}

static csrconv_weights *dense_weights(const csrconv_geometry *g, const float *dense)
{
    csrconv_weights *weights;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels / g->groups, g->kernel_h,
                                         g->kernel_w, NULL, &weights));
    return weights;
}

static void fill_nan(float *floats, int64_t count)
{
    memset(floats, 0xff, (size_t)count * sizeof *floats);
}

/*
 * Filter 0 has one weight, the centre of channel 0; filter 1 one at the corner of it; filter 2
 * none. Channel 1 is NaN and infinite throughout, and channel 0 at one pixel.
 */
static void pruned_weights_ignore_nan(const csrconv_algorithm *algorithm)
{
    const csrconv_geometry g = small_geometry();
    float dense[3 * 18] = { [4] = 2.0F, [18] = 1.0F }, in[2 * PLANE], out[3 * PLANE];
    csrconv_weights *weights = dense_weights(&g, dense);
    struct layer layer = layer_of(&g, weights, in);
    fill_series(in, PLANE);
    for (int i = 0; i < PLANE; i++)
        in[PLANE + i] = i % 3 ? NAN : i % 2 ? INFINITY : -INFINITY;
    in[3 * SIZE + 3] = NAN;
    fill_nan(out, COUNT_OF(out));
    layer_run(&layer, algorithm, out);
    for (int i = 0; i < PLANE; i++) {
        const int y = i / SIZE, x = i % SIZE, before = i - SIZE - 1;
        assert_int_equal(isnan(out[i]) != 0, y == 3 && x == 3);
        assert_int_equal(isnan(out[PLANE + i]) != 0, y == 4 && x == 4);
        if (!isnan(out[i]))
            assert_true(out[i] == 2.0F * in[i]);
        if (!isnan(out[PLANE + i]))
            assert_true(out[PLANE + i] == (y && x ? in[before] : 0.0F));
        assert_true(out[2 * PLANE + i] == 0.0F);
    }
    csrconv_weights_destroy(&weights);
}

/* 1x1, one channel: out = activation(w * x + bias + residual). */
static float single(const csrconv_algorithm *algorithm, float weight, float x,
                    const csrconv_epilogue *epilogue, float residual)
{
    const csrconv_geometry g = geometry_of(1, 1, 1, 1, 1, 1);
    csrconv_weights *weights = dense_weights(&g, &weight);
    struct layer layer = layer_of(&g, weights, &x);
    float out = NAN;
    layer.options.epilogue = *epilogue;
    layer.residual = epilogue->residual ? &residual : NULL;
    layer_run(&layer, algorithm, &out);
    csrconv_weights_destroy(&weights);
    return out;
}

static void epilogues_are_what_they_say(const csrconv_algorithm *algorithm)
{
    const float bias = 1.0F;
    const csrconv_epilogue none = { 0 };
    const csrconv_epilogue biased = { .bias = &bias };
    const csrconv_epilogue relu = { .activation = CSRCONV_ACTIVATION_RELU };
    const csrconv_epilogue clamp = { .activation = CSRCONV_ACTIVATION_CLAMP, .lo = -1, .hi = 2 };
    const csrconv_epilogue point = { .activation = CSRCONV_ACTIVATION_CLAMP, .lo = 3, .hi = 3 };
    const csrconv_epilogue all = { &bias, 1, CSRCONV_ACTIVATION_RELU, 0, 0 };
    const csrconv_epilogue limits = { &bias, 1, CSRCONV_ACTIVATION_CLAMP, -2, 2 };
    assert_true(single(algorithm, 2, 3, &none, 0) == 6.0F);
    assert_true(single(algorithm, 2, 3, &biased, 0) == 7.0F);
    assert_true(single(algorithm, 2, -3, &relu, 0) == 0.0F);
    assert_true(single(algorithm, 2, 3, &relu, 0) == 6.0F);
    assert_true(single(algorithm, 2, 3, &clamp, 0) == 2.0F);
    assert_true(single(algorithm, 2, -3, &clamp, 0) == -1.0F);
    assert_true(single(algorithm, 1, 0.5F, &clamp, 0) == 0.5F);
    assert_true(single(algorithm, 1, 9, &point, 0) == 3.0F);
    assert_true(single(algorithm, 2, 3, &all, -10) == 0.0F); /* added before the activation */
    assert_true(single(algorithm, 2, -3, &all, 10) == 5.0F);
    assert_true(single(algorithm, 2, -3, &limits, 3) == -2.0F);
    assert_true(single(algorithm, 0, 3, &all, 10) == 11.0F); /* no nonzeros */
    assert_true(single(algorithm, 0, 3, &limits, -10) == -2.0F);
    assert_true(single(algorithm, 0, NAN, &biased, 0) == 1.0F);
}

static void nan_passes_every_activation(const csrconv_algorithm *algorithm)
{
    const csrconv_epilogue none = { 0 };
    const csrconv_epilogue relu = { .activation = CSRCONV_ACTIVATION_RELU };
    const csrconv_epilogue clamp = { .activation = CSRCONV_ACTIVATION_CLAMP, .lo = -1, .hi = 2 };
    const csrconv_epilogue *const all[] = { &none, &relu, &clamp };
    for (int i = 0; i < COUNT_OF(all); i++) {
        assert_true(isnan(single(algorithm, 2, NAN, all[i], 0)));
        assert_true(isnan(single(algorithm, NAN, 1, all[i], 0)));
        assert_true(isnan(single(algorithm, INFINITY, 0, all[i], 0)));
    }
    assert_true(single(algorithm, INFINITY, 1, &none, 0) == INFINITY);
    assert_true(single(algorithm, INFINITY, -1, &relu, 0) == 0.0F);
    assert_true(single(algorithm, 1, INFINITY, &clamp, 0) == 2.0F);
}

/* A larger layer with everything in it, for the tests of bits. */
struct busy {
    csrconv_geometry geometry;
    csrconv_weights *weights;
    float *in, *residual, bias[12];
    struct layer layer;
    size_t out_bytes;
};

static void busy_make(struct busy *busy)
{
    csrconv_geometry *g = &busy->geometry;
    *g = geometry_of(8, 13, 11, 12, 3, 3);
    g->batch = 3;
    g->groups = 2;
    g->pad_top = g->pad_left = g->pad_right = 1;
    g->in_batch_stride = 8 * 13 * 11 + 5;
    g->out_batch_stride = 12 * 12 * 11 + 9;
    busy->weights = weights_of(g);
    busy->layer = layer_of(g, busy->weights, NULL);
    busy->out_bytes = (size_t)layer_out_floats(&busy->layer) * sizeof(float);
    busy->in = test_malloc((size_t)layer_in_floats(&busy->layer) * sizeof(float));
    busy->residual = test_malloc(busy->out_bytes);
    fill_series(busy->in, layer_in_floats(&busy->layer));
    fill_series(busy->residual, layer_out_floats(&busy->layer));
    fill_series(busy->bias, 12);
    busy->layer.in = busy->in;
    busy->layer.residual = busy->residual;
    busy->layer.options.epilogue =
        (csrconv_epilogue){ busy->bias, 1, CSRCONV_ACTIVATION_CLAMP, -20, 20 };
}

static void busy_free(struct busy *busy)
{
    csrconv_weights_destroy(&busy->weights);
    test_free(busy->in);
    test_free(busy->residual);
}

/* Runs into an output of 0xff bytes, which are NaN. */
static float *busy_run(const struct busy *busy, const csrconv_algorithm *algorithm)
{
    float *out = test_malloc(busy->out_bytes);
    memset(out, 0xff, busy->out_bytes);
    layer_run(&busy->layer, algorithm, out);
    return out;
}

static void threads_and_runs_give_the_same_bits(const csrconv_algorithm *algorithm)
{
    static const int threads[] = { 1, 1, 2, 3, 8 };
    struct busy busy;
    float *first;
    busy_make(&busy);
    busy.layer.options.threads = 1;
    first = busy_run(&busy, algorithm);
    for (int i = 0; i < COUNT_OF(threads); i++) {
        float *again;
        busy.layer.options.threads = threads[i];
        again = busy_run(&busy, algorithm);
        assert_memory_equal(first, again, busy.out_bytes);
        test_free(again);
    }
    test_free(first);
    busy_free(&busy);
}

/* Whatever the output held is gone, and the gaps between its images and the rest are untouched. */
static void outputs_are_overwritten_and_gaps_are_not(const csrconv_algorithm *algorithm)
{
    struct busy busy;
    float *out;
    int64_t image, stride;
    busy_make(&busy);
    busy.layer.n = 2;
    stride = busy.geometry.out_batch_stride;
    image = stride - 9;
    out = busy_run(&busy, algorithm);
    for (int64_t i = 0; i < layer_out_floats(&busy.layer); i++) {
        uint32_t bits;
        memcpy(&bits, &out[i], sizeof bits);
        if (i < 2 * stride && i % stride < image)
            assert_false(isnan(out[i]));
        else
            assert_int_equal(bits, UINT32_MAX);
    }
    test_free(out);
    busy_free(&busy);
}

/* The one output is that of the window at the corner: two rows and columns of each channel. */
static void the_largest_strides_leave_one_output(const csrconv_algorithm *algorithm)
{
    csrconv_geometry g = small_geometry();
    csrconv_weights *weights;
    float dense[3 * 18], in[2 * PLANE], out[3];
    struct layer layer;
    g.stride_h = g.stride_w = INT64_MAX;
    for (int i = 0; i < COUNT_OF(dense); i++)
        dense[i] = 1.0F;
    for (int i = 0; i < COUNT_OF(in); i++)
        in[i] = (float)i;
    weights = dense_weights(&g, dense);
    layer = layer_of(&g, weights, in);
    fill_nan(out, COUNT_OF(out));
    layer_run(&layer, algorithm, out);
    for (int m = 0; m < COUNT_OF(out); m++)
        assert_true(out[m] == 2.0F * (0 + 1 + SIZE + SIZE + 1) + 4.0F * PLANE);
    csrconv_weights_destroy(&weights);
}

/* The property to hold is the test's state. */
struct property {
    void (*holds)(const csrconv_algorithm *algorithm);
};

static void holds_for_every_algorithm(void **state)
{
    const struct property *property = *state;
    each_own_algorithm(property->holds);
}

#define PROPERTY(name)                                                                             \
    {                                                                                              \
#name, holds_for_every_algorithm, NULL, NULL, &(struct property)                           \
        {                                                                                          \
            name                                                                                   \
        }                                                                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROPERTY(pruned_weights_ignore_nan),
        PROPERTY(epilogues_are_what_they_say),
        PROPERTY(nan_passes_every_activation),
        PROPERTY(threads_and_runs_give_the_same_bits),
        PROPERTY(outputs_are_overwritten_and_gaps_are_not),
        PROPERTY(the_largest_strides_leave_one_output),
    };
    return cmocka_run_group_tests_name("semantics", tests, NULL, NULL);
}
