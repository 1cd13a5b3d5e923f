#include "tile_fixture.h"

#include <math.h>
#include <string.h>

int64_t random_between(struct random_state *state, int64_t least, int64_t most)
{
    return least + (int64_t)random_below(state, (uint64_t)(most - least + 1));
}

/* Usually small, now and then large. */
static int64_t random_size(struct random_state *state, int64_t least, int64_t usual, int64_t most)
{
    return random_between(state, least, random_below(state, 8) ? usual : most);
}

static csrconv_geometry any_geometry(struct random_state *state)
{
    const int64_t groups = random_size(state, 1, 1, 3);
    csrconv_geometry g =
        geometry_of(groups * random_size(state, 1, 3, 9), random_size(state, 1, 9, 40),
                    random_size(state, 1, 9, 200), groups * random_size(state, 1, 5, 40),
                    random_size(state, 1, 3, 9), random_size(state, 1, 3, 60));
    g.groups = groups;
    g.batch = random_size(state, 1, 3, 20);
    if (random_below(state, 2)) {
        g.stride_h = random_size(state, 1, 3, 50);
        g.stride_w = random_size(state, 1, 3, 50);
    }
    g.dilation_h = random_size(state, 1, 2, 7);
    g.dilation_w = random_size(state, 1, 2, 7);
    if (random_below(state, 2)) {
        g.pad_top = random_size(state, 0, 3, 30);
        g.pad_left = random_size(state, 0, 3, 60);
        g.pad_bottom = random_size(state, 0, 3, 30);
        g.pad_right = random_size(state, 0, 3, 60);
    }
    return g;
}

csrconv_geometry random_geometry(struct random_state *state)
{
    csrconv_geometry g;
    do
        g = any_geometry(state);
    while (csrconv_output_size(&g, NULL, NULL));
    return g;
}

csrconv_weights *random_weights(struct random_state *state, const csrconv_geometry *g)
{
    const int64_t columns = g->channels / g->groups * g->kernel_h * g->kernel_w;
    float *dense = test_calloc((size_t)(g->filters * columns), sizeof *dense);
    csrconv_weights *weights;
    for (int64_t m = 0; m < g->filters; m++) {
        const uint64_t density = random_below(state, 5); /* quarters */
        for (int64_t k = 0; k < columns; k++)
            if (random_below(state, 4) < density)
                dense[m * columns + k] = (float)random_between(state, 1, 1000);
    }
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels / g->groups, g->kernel_h,
                                         g->kernel_w, NULL, &weights));
    test_free(dense);
    return weights;
}

csrconv_weights *uneven_weights(const csrconv_geometry *g)
{
    const int64_t columns = g->channels * g->kernel_h * g->kernel_w;
    float *dense = test_calloc((size_t)(g->filters * columns), sizeof *dense);
    csrconv_weights *weights;
    for (int64_t m = 0; m < g->filters; m++)
        for (int64_t i = 0; i < columns * m / (4 * g->filters); i++)
            dense[m * columns + i * 4] = 1.0F;
    assert_ok(csrconv_weights_from_dense(dense, g->filters, g->channels, g->kernel_h, g->kernel_w,
                                         NULL, &weights));
    test_free(dense);
    return weights;
}

static void transpose(int64_t lanes, const float *from, int64_t from_stride, int64_t columns,
                      float *to, int64_t to_stride)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < lanes; i++)
            to[j * to_stride + i] = from[i * from_stride + j];
}

static void transpose_8(const float *from, int64_t from_stride, int64_t columns, float *to,
                        int64_t to_stride)
{
    transpose(8, from, from_stride, columns, to, to_stride);
}

static void transpose_16(const float *from, int64_t from_stride, int64_t columns, float *to,
                         int64_t to_stride)
{
    transpose(16, from, from_stride, columns, to, to_stride);
}

static void finish(const float *from, const float *residual, float lo, float hi, int64_t count,
                   float *to)
{
    for (int64_t i = 0; i < count; i++) {
        const float x = residual ? from[i] + residual[i] : from[i];
        to[i] = x < lo ? lo : x > hi ? hi : x;
    }
}

static void settle(void)
{
}

static csrconv_status need_nothing(void)
{
    return CSRCONV_OK;
}

const struct csrconv_tile_isa plain_isa_of_8 = { .need = need_nothing,
                                                 .lanes = 8,
                                                 .most_vectors = 14,
                                                 .unaligned_load = 1.6,
                                                 .transpose = transpose_8,
                                                 .finish = finish,
                                                 .finish_streamed = finish,
                                                 .settle = settle };
const struct csrconv_tile_isa plain_isa_of_16 = { .need = need_nothing,
                                                  .lanes = 16,
                                                  .most_vectors = 28,
                                                  .unaligned_load = 1.8,
                                                  .transpose = transpose_16,
                                                  .finish = finish,
                                                  .finish_streamed = finish,
                                                  .settle = settle };
