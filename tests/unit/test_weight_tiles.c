/*
 * The cut of cuda_tiled_weights: blocks, stages and slices are walked as the kernel walks them, and
 * must give the convolution, each output once, within the shared memory that they ask for.
 */
#include "tile_fixture.h"

#include "weight_slices.h"

#include <string.h>

enum { ROUNDS = 300, PLAIN = CSRCONV_PLAIN_SHARED };

/* GPUs from the least to the most that a block can have, and some for which little fits. */
static const struct csrconv_weight_tile_limits gpus[] = {
    { PLAIN, 1 },    { 64 * 1024, 40 }, { 227 * 1024, 132 },
    { 8 * 1024, 2 }, { 2 * 1024, 20 },  { 600, 132 },
};

/* A random layer, how it is cut, and whether it was refused. */
struct sample {
    struct csrconv_problem problem;
    const struct csrconv_weight_tile_limits *gpu;
    struct csrconv_weight_tiles tiles;
    struct csrconv_weight_slices slices;
    struct csrconv_memory memory;
    csrconv_status status;
};

static void cut(struct sample *s)
{
    s->status = csrconv_weight_tiles_choose(&s->problem, s->gpu, &s->tiles);
    if (!s->status)
        assert_ok(csrconv_weight_slices_make(&s->problem, &s->memory, &s->tiles, &s->slices));
}

static void each_sample(void (*check)(const struct sample *sample))
{
    struct random_state random;
    random_seed(&random, 11);
    for (int i = 0; i < ROUNDS; i++) {
        const csrconv_geometry g = random_geometry(&random);
        csrconv_weights *weights = random_weights(&random, &g);
        struct sample s = { .problem.weights = weights, .gpu = &gpus[i % COUNT_OF(gpus)] };
        assert_ok(csrconv_memory_init(&s.memory, NULL));
        assert_ok(csrconv_shape_init(&s.problem.shape, &g));
        cut(&s);
        check(&s);
        csrconv_weight_slices_free(&s.memory, &s.slices);
        csrconv_weights_destroy(&weights);
    }
}

static void check_sizes(const struct sample *s)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    const struct csrconv_shape *shape = &s->problem.shape;
    if (s->status)
        return;
    assert_true(t->lanes == 32 || t->lanes == 64 || t->lanes == 128 || t->lanes == 256);
    assert_true(t->thread_pixels == 1 || t->thread_pixels == 2 || t->thread_pixels == 4);
    assert_in_range(t->thread_filters, 1, CSRCONV_WEIGHT_TILE_SUMS);
    assert_int_equal(t->filters, CSRCONV_WEIGHT_TILE_THREADS / t->lanes * t->thread_filters);
    assert_in_range(t->tile_h * t->tile_w, 1, t->lanes * t->thread_pixels);
    assert_in_range(t->channels, 1, shape->group_channels);
    assert_true(t->stages * t->channels >= shape->group_channels);
    assert_true((t->stages - 1) * t->channels < shape->group_channels);
    assert_true(csrconv_weight_tiles_shared_bytes(t) <= s->gpu->block_shared);
    assert_true(t->clocks > 0.0);
}

static void sizes_are_within_bounds(void **state)
{
    (void)state;
    each_sample(check_sizes);
}

/* Refused is only what has one channel under one pixel that does not fit. */
static void check_refusal(const struct sample *s)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    const csrconv_geometry *g = &shape->g;
    const int64_t window =
        ((g->kernel_h - 1) * g->dilation_h + 1) * ((g->kernel_w - 1) * g->dilation_w + 1);
    const struct csrconv_weights *w = s->problem.weights;
    int64_t most = 0;
    for (int64_t m = 0; m < w->filters; m++)
        for (int64_t c = 0; c < w->channels_per_group; c++) {
            int64_t count = 0;
            for (int64_t i = w->indptr[m]; i < w->indptr[m + 1]; i++)
                count += w->indices[i] / (w->kernel_h * w->kernel_w) == c;
            most = count > most ? count : most;
        }
    assert_int_equal(s->status ? 1 : 0, 4 * window + 8 + 8 * most > s->gpu->block_shared);
    if (s->status)
        assert_fails(s->status, CSRCONV_NOT_SUPPORTED, "bytes of shared memory; a block can have");
}

static void only_what_cannot_fit_is_refused(void **state)
{
    (void)state;
    each_sample(check_refusal);
}

static float input_of(const struct sample *s, const float *in, int64_t image, int64_t channel,
                      int64_t y, int64_t x)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    const bool is_inside = y >= 0 && y < shape->g.height && x >= 0 && x < shape->g.width;
    return is_inside ? in[image * shape->in_image + channel * shape->plane + y * shape->g.width + x]
                     : 0.0F;
}

/* By the definition, from the columns. */
static float convolved(const struct sample *s, const float *in, int64_t image, int64_t m, int64_t y,
                       int64_t x)
{
    const struct csrconv_weights *w = s->problem.weights;
    const csrconv_geometry *g = &s->problem.shape.g;
    const int64_t first = m / s->problem.shape.group_filters * w->channels_per_group;
    float sum = 0.0F;
    for (int64_t i = w->indptr[m]; i < w->indptr[m + 1]; i++) {
        const int64_t column = w->indices[i];
        const int64_t k = column % w->kernel_w, r = column / w->kernel_w % w->kernel_h;
        sum += w->values[i] * input_of(s, in, image, first + column / (w->kernel_w * w->kernel_h),
                                       y * g->stride_h - g->pad_top + r * g->dilation_h,
                                       x * g->stride_w - g->pad_left + k * g->dilation_w);
    }
    return sum;
}

/* What a block of the kernel computes, and what it has in shared memory. */
struct block {
    int64_t image, filter_block, group, first_filter, y, x;
    float *inputs;
    float sums[64];
};

static void place(const struct sample *s, int64_t index, struct block *b)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    const int64_t group_blocks = t->filter_blocks / s->problem.shape.g.groups;
    const int64_t tile = index / t->filter_blocks % (t->row_tiles * t->column_tiles);
    b->image = index / t->filter_blocks / (t->row_tiles * t->column_tiles);
    b->filter_block = index % t->filter_blocks;
    b->group = b->filter_block / group_blocks;
    b->first_filter = b->filter_block % group_blocks * t->filters;
    b->y = tile / t->column_tiles * t->tile_h;
    b->x = tile % t->column_tiles * t->tile_w;
}

static void bring_inputs(const struct sample *s, const float *in, int64_t stage, struct block *b)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t first = stage * t->channels;
    for (int64_t c = 0; c < t->channels && first + c < shape->group_channels; c++)
        for (int64_t i = 0; i < t->stage_h * t->stage_w; i++)
            b->inputs[c * t->stage_h * t->stage_w + i] =
                input_of(s, in, b->image, b->group * shape->group_channels + first + c,
                         b->y * shape->g.stride_h - shape->g.pad_top + i / t->stage_w,
                         b->x * shape->g.stride_w - shape->g.pad_left + i % t->stage_w);
}

/* One pixel of the tile: adds the stage to the sums of the block's filters. */
static void multiply(const struct sample *s, int64_t stage, int64_t window, struct block *b)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    const int64_t *starts = s->slices.starts + (b->filter_block * t->stages + stage) * t->filters;
    assert_in_range(starts[t->filters] - starts[0], 0, t->pairs);
    for (int64_t f = 0; f < t->filters; f++)
        for (int64_t i = starts[f]; i < starts[f + 1]; i++) {
            const int64_t at = window + s->slices.pairs[i].offset;
            assert_in_range(at, 0, t->channels * t->stage_h * t->stage_w - 1);
            b->sums[f] += s->slices.pairs[i].value * b->inputs[at];
        }
}

static void store(const struct sample *s, int64_t y, int64_t x, struct block *b, float *out)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    for (int64_t f = 0; f < s->tiles.filters; f++) {
        const int64_t m = b->group * shape->group_filters + b->first_filter + f;
        float *to = out + b->image * shape->out_image + m * shape->out_plane + y * shape->out_w + x;
        if (b->first_filter + f >= shape->group_filters) {
            assert_true(b->sums[f] == 0.0F);
            continue;
        }
        assert_true(*to == -1.0F);
        *to = b->sums[f];
    }
}

static void compute_block(const struct sample *s, const float *in, int64_t index, struct block *b,
                          float *out)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    const struct csrconv_shape *shape = &s->problem.shape;
    place(s, index, b);
    for (int64_t pixel = 0; pixel < t->tile_h * t->tile_w; pixel++) {
        const int64_t y = pixel / t->tile_w, x = pixel % t->tile_w;
        memset(b->sums, 0, sizeof b->sums);
        for (int64_t stage = 0; stage < t->stages; stage++) {
            if (pixel == 0 || t->stages > 1)
                bring_inputs(s, in, stage, b);
            multiply(s, stage, y * shape->g.stride_h * t->stage_w + x * shape->g.stride_w, b);
        }
        if (b->y + y < shape->out_h && b->x + x < shape->out_w)
            store(s, b->y + y, b->x + x, b, out);
    }
}

static void compute(const struct sample *s, const float *in, float *out)
{
    const struct csrconv_weight_tiles *t = &s->tiles;
    struct block b;
    b.inputs = test_malloc((size_t)(t->channels * t->stage_h * t->stage_w) * sizeof *b.inputs);
    for (int64_t i = 0; i < csrconv_weight_tiles_blocks(t, s->problem.shape.g.batch); i++)
        compute_block(s, in, i, &b, out);
    test_free(b.inputs);
}

static void check_output(const struct sample *s, const float *in, const float *out)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    for (int64_t i = 0; i < shape->g.batch * shape->out_image; i++)
        assert_true(out[i] == convolved(s, in, i / shape->out_image,
                                        i % shape->out_image / shape->out_plane,
                                        i % shape->out_plane / shape->out_w,
                                        i % shape->out_plane % shape->out_w));
}

static void check_convolution(const struct sample *s)
{
    const struct csrconv_shape *shape = &s->problem.shape;
    const int64_t in_floats = shape->g.batch * shape->in_image;
    const int64_t out_floats = shape->g.batch * shape->out_image;
    float *in = test_malloc((size_t)in_floats * sizeof *in);
    float *out = test_malloc((size_t)out_floats * sizeof *out);
    for (int64_t i = 0; i < in_floats; i++)
        in[i] = (float)(i * 37 % 11);
    for (int64_t i = 0; i < out_floats; i++)
        out[i] = -1.0F; /* no sum of such numbers */
    if (!s->status) {
        compute(s, in, out);
        check_output(s, in, out);
    }
    test_free(out);
    test_free(in);
}

static void the_cut_gives_the_convolution(void **state)
{
    (void)state;
    each_sample(check_convolution);
}

/* One filter of one channel, 10 x 10 with every third weight pruned, over one pixel. */
static void the_smallest_stage_is_counted_to_the_byte(void **state)
{
    const int64_t bytes = 100 * 4 + 2 * 4 + 66 * 8;
    const struct csrconv_weight_tile_limits enough = { bytes, 1 }, less = { bytes - 1, 1 };
    const csrconv_geometry g = geometry_of(1, 10, 10, 1, 10, 10);
    csrconv_weights *weights = weights_of(&g);
    struct csrconv_problem problem = { .weights = weights };
    struct csrconv_weight_tiles tiles;
    (void)state;
    assert_int_equal(csrconv_nonzeros(weights), 66);
    assert_ok(csrconv_shape_init(&problem.shape, &g));
    assert_ok(csrconv_weight_tiles_choose(&problem, &enough, &tiles));
    assert_int_equal(csrconv_weight_tiles_shared_bytes(&tiles), bytes);
    assert_fails(csrconv_weight_tiles_choose(&problem, &less, &tiles), CSRCONV_NOT_SUPPORTED,
                 "10 x 10 inputs and 66 nonzeros, takes 936 bytes of shared memory; a block can "
                 "have 935");
    csrconv_weights_destroy(&weights);
}

/* A layer of the published ones on a large GPU: worth a look, since the model is to keep it busy.
 */
static void a_large_layer_fills_the_gpu(void **state)
{
    csrconv_geometry g = geometry_of(256, 14, 14, 256, 3, 3);
    struct sample s = { .gpu = &gpus[2] };
    csrconv_weights *weights;
    (void)state;
    g.batch = 32;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    weights = weights_of(&g);
    s.problem.weights = weights;
    assert_ok(csrconv_memory_init(&s.memory, NULL));
    assert_ok(csrconv_shape_init(&s.problem.shape, &g));
    cut(&s);
    assert_ok(s.status);
    assert_true(csrconv_weight_tiles_blocks(&s.tiles, g.batch) >= s.gpu->processors);
    assert_true(csrconv_weight_tiles_shared_bytes(&s.tiles) <= PLAIN);
    csrconv_weight_slices_free(&s.memory, &s.slices);
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_within_bounds),
        cmocka_unit_test(only_what_cannot_fit_is_refused),
        cmocka_unit_test(the_cut_gives_the_convolution),
        cmocka_unit_test(the_smallest_stage_is_counted_to_the_byte),
        cmocka_unit_test(a_large_layer_fills_the_gpu),
    };
    return cmocka_run_group_tests_name("weight_tiles", tests, NULL, NULL);
}
