#include "exact_layer.h"

#include <math.h>

float exact_layer_input(const struct exact_layer *layer, int64_t n, int64_t c, int64_t y, int64_t x)
{
    const csrconv_geometry *g = &layer->problem.shape.g;
    if (y < 0 || y >= g->height || x < 0 || x >= g->width)
        return 0.0F;
    return layer->in[n * g->in_batch_stride + (c * g->height + y) * g->width + x];
}

static float convolve_one(const struct exact_layer *layer, int64_t n, int64_t m, int64_t y,
                          int64_t x)
{
    const struct csrconv_shape *shape = &layer->problem.shape;
    const csrconv_geometry *g = &shape->g;
    const struct csrconv_weights *w = layer->problem.weights;
    const int64_t first_channel = m / shape->group_filters * shape->group_channels;
    float sum = 0.0F;
    for (int64_t i = w->indptr[m]; i < w->indptr[m + 1]; i++) {
        const int64_t s = w->indices[i] % g->kernel_w;
        const int64_t r = w->indices[i] / g->kernel_w % g->kernel_h;
        const int64_t c = first_channel + w->indices[i] / (g->kernel_w * g->kernel_h);
        sum += w->values[i] * exact_layer_input(layer, n, c,
                                                y * g->stride_h - g->pad_top + r * g->dilation_h,
                                                x * g->stride_w - g->pad_left + s * g->dilation_w);
    }
    return sum;
}

static void fill(struct exact_layer *layer, struct random_state *random)
{
    const struct csrconv_shape *shape = &layer->problem.shape;
    const csrconv_geometry *g = &shape->g;
    float *values = layer->problem.weights->values;
    for (int64_t i = 0; i < csrconv_nonzeros(layer->problem.weights); i++)
        values[i] = (float)random_between(random, 1, 7);
    for (int64_t i = 0; i < layer->in_floats; i++)
        layer->in[i] = (float)random_between(random, -8, 8);
    for (int64_t n = 0; n < g->batch; n++)
        for (int64_t m = 0; m < g->filters; m++)
            for (int64_t i = 0; i < shape->out_plane; i++)
                layer->want[n * g->out_batch_stride + m * shape->out_plane + i] =
                    convolve_one(layer, n, m, i / shape->out_w, i % shape->out_w);
}

void exact_layer_init(struct exact_layer *layer, const csrconv_geometry *geometry,
                      struct random_state *random)
{
    struct csrconv_shape *shape = &layer->problem.shape;
    assert_ok(csrconv_shape_init(shape, geometry));
    layer->in_floats = shape->g.batch * shape->g.in_batch_stride;
    layer->out_floats = shape->g.batch * shape->g.out_batch_stride;
    layer->in = test_malloc((size_t)layer->in_floats * sizeof(float));
    layer->out = test_malloc((size_t)layer->out_floats * sizeof(float));
    layer->want = test_malloc((size_t)layer->out_floats * sizeof(float));
    fill(layer, random);
}

void exact_layer_free(struct exact_layer *layer)
{
    test_free(layer->want);
    test_free(layer->out);
    test_free(layer->in);
}

void exact_layer_clear(struct exact_layer *layer)
{
    for (int64_t i = 0; i < layer->out_floats; i++)
        layer->out[i] = NAN;
}

void exact_layer_check(const struct exact_layer *layer)
{
    const struct csrconv_shape *shape = &layer->problem.shape;
    for (int64_t n = 0; n < shape->g.batch; n++)
        assert_memory_equal(layer->out + n * shape->g.out_batch_stride,
                            layer->want + n * shape->g.out_batch_stride,
                            (size_t)shape->out_image * sizeof(float));
}

void exact_layer_store(const struct exact_layer *layer, int64_t n, int64_t m, int64_t pixel,
                       float sum)
{
    const struct csrconv_shape *shape = &layer->problem.shape;
    float *out = layer->out + n * shape->g.out_batch_stride + m * shape->out_plane + pixel;
    assert_true(isnan(*out));
    *out = sum;
}
