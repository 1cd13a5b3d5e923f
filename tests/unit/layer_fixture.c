#include "layer_fixture.h"

#include <math.h>
#include <stdlib.h>

float layer_input(const struct layer_data *d, int64_t n, int64_t c, int64_t y, int64_t x)
{
    const csrconv_geometry *g = &d->problem.shape.g;
    if (y < 0 || y >= g->height || x < 0 || x >= g->width)
        return 0.0F;
    return d->in[n * g->in_batch_stride + (c * g->height + y) * g->width + x];
}

/* Plain loops over the CSR rows. */
static float convolve_one(const struct layer_data *d, int64_t n, int64_t m, int64_t y, int64_t x)
{
    const struct csrconv_shape *shape = &d->problem.shape;
    const csrconv_geometry *g = &shape->g;
    const struct csrconv_weights *w = d->weights;
    const int64_t first_channel = m / shape->group_filters * shape->group_channels;
    float sum = 0.0F;
    for (int64_t i = w->indptr[m]; i < w->indptr[m + 1]; i++) {
        const int64_t s = w->indices[i] % g->kernel_w;
        const int64_t r = w->indices[i] / g->kernel_w % g->kernel_h;
        const int64_t c = first_channel + w->indices[i] / (g->kernel_w * g->kernel_h);
        sum += w->values[i] * layer_input(d, n, c, y * g->stride_h - g->pad_top + r * g->dilation_h,
                                          x * g->stride_w - g->pad_left + s * g->dilation_w);
    }
    return sum;
}

static void fill(struct layer_data *d, struct random_state *random)
{
    const struct csrconv_shape *shape = &d->problem.shape;
    const csrconv_geometry *g = &shape->g;
    for (int64_t i = 0; i < csrconv_nonzeros(d->weights); i++)
        d->weights->values[i] = (float)random_between(random, 1, 7);
    for (int64_t i = 0; i < d->in_floats; i++)
        d->in[i] = (float)random_between(random, -8, 8);
    for (int64_t n = 0; n < g->batch; n++)
        for (int64_t m = 0; m < g->filters; m++)
            for (int64_t i = 0; i < shape->out_plane; i++)
                d->want[n * g->out_batch_stride + m * shape->out_plane + i] =
                    convolve_one(d, n, m, i / shape->out_w, i % shape->out_w);
}

void layer_make(struct random_state *random, struct layer_data *d)
{
    const csrconv_geometry g = random_geometry(random);
    *d = (struct layer_data){ .weights = random_weights(random, &g) };
    d->problem.weights = d->weights;
    assert_ok(csrconv_shape_init(&d->problem.shape, &g));
    d->in_floats = g.batch * d->problem.shape.g.in_batch_stride;
    d->out_floats = g.batch * d->problem.shape.g.out_batch_stride;
    d->in = malloc((size_t)d->in_floats * sizeof(float));
    d->out = malloc((size_t)d->out_floats * sizeof(float));
    d->want = malloc((size_t)d->out_floats * sizeof(float));
    assert_true(d->in && d->out && d->want);
    fill(d, random);
}

void layer_free(struct layer_data *d)
{
    free(d->want);
    free(d->out);
    free(d->in);
    csrconv_weights_destroy(&d->weights);
}

void layer_clear(struct layer_data *d)
{
    for (int64_t i = 0; i < d->out_floats; i++)
        d->out[i] = NAN;
}

void layer_store(const struct layer_data *d, int64_t n, int64_t m, int64_t y, int64_t x,
                 float value)
{
    const struct csrconv_shape *shape = &d->problem.shape;
    float *out =
        d->out + n * shape->g.out_batch_stride + m * shape->out_plane + y * shape->out_w + x;
    assert_true(isnan(*out));
    *out = value;
}

void layer_check(const struct layer_data *d)
{
    const csrconv_geometry *g = &d->problem.shape.g;
    for (int64_t n = 0; n < g->batch; n++)
        assert_memory_equal(d->out + n * g->out_batch_stride, d->want + n * g->out_batch_stride,
                            (size_t)d->problem.shape.out_image * sizeof(float));
}
