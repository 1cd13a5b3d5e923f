#include "workload.h"

#include "complain.h"
#include "place.h"
#include "problem/pattern.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t workload_canary = 0x7fc0dead;

static int no_memory(int64_t floats)
{
    return complain(EXIT_WRONG, "memory", "no room for %lld floats of a tensor", (long long)floats);
}

static float canary(void)
{
    float value;
    memcpy(&value, &workload_canary, sizeof value);
    return value;
}

void workload_fill_canaries(struct guarded *guarded)
{
    const float value = canary();
    for (int64_t i = 0; i < guarded->block_floats; i++)
        guarded->block[i] = value;
}

static int guarded_make(int64_t image, int64_t stride, int64_t n, bool is_misaligned,
                        struct guarded *guarded)
{
    int64_t floats;
    *guarded = (struct guarded){ .image = image, .stride = stride, .n = n };
    guarded->start = GUARD_FLOATS + is_misaligned;
    if (__builtin_mul_overflow(n, stride, &floats) ||
        __builtin_add_overflow(floats, 2 * GUARD_FLOATS + 1, &floats) ||
        (uint64_t)floats > PTRDIFF_MAX / sizeof(float))
        return no_memory(INT64_MAX);
    guarded->block_floats = floats;
    guarded->block = place_cpu.allocate((size_t)floats * sizeof(float));
    if (!guarded->block)
        return no_memory(floats);
    workload_fill_canaries(guarded);
    return EXIT_DONE;
}

void guarded_free(struct guarded *guarded)
{
    place_cpu.release(guarded->block);
    guarded->block = NULL;
}

float *guarded_image(const struct guarded *guarded, int64_t n)
{
    return guarded->block + guarded->start + n * guarded->stride;
}

/* Whole numbers from -2 to 2, or reals in [-1, 1). */
static float random_activation(struct random_state *state, bool is_exact)
{
    return is_exact ? (float)random_below(state, 5) - 2.0F
                    : (float)(random_unit(state) * 2.0 - 1.0);
}

static void fill_random(struct guarded *guarded, struct random_state *state, bool is_exact)
{
    for (int64_t n = 0; n < guarded->n; n++) {
        float *image = guarded_image(guarded, n);
        for (int64_t i = 0; i < guarded->image; i++)
            image[i] = random_activation(state, is_exact);
    }
}

static double largest_of(const struct guarded *guarded)
{
    double largest = 0.0;
    for (int64_t n = 0; n < guarded->n; n++)
        for (int64_t i = 0; i < guarded->image; i++)
            largest = fmax(largest, fabs((double)guarded_image(guarded, n)[i]));
    return largest;
}

static int64_t columns_of(const csrconv_geometry *g)
{
    return g->channels / g->groups * g->kernel_h * g->kernel_w;
}

static void empty_rows(struct workload *w)
{
    const int64_t columns = columns_of(&w->geometry);
    for (int64_t m = 0; m < w->geometry.filters; m += 3)
        memset(w->dense + m * columns, 0, (size_t)columns * sizeof *w->dense);
}

static void fill_last_row(struct workload *w)
{
    const int64_t columns = columns_of(&w->geometry);
    float *row = w->dense + (w->geometry.filters - 1) * columns;
    for (int64_t k = 0; k < columns; k++)
        row[k] = k % 2 ? 1.0F : -2.0F;
}

static int fill_weights(struct workload *w, const struct workload_options *o)
{
    const int64_t count = w->geometry.filters * columns_of(&w->geometry);
    int code;
    w->dense = malloc((size_t)count * sizeof *w->dense);
    if (!w->dense)
        return no_memory(count);
    if (o->weights) {
        memcpy(w->dense, o->weights, (size_t)count * sizeof *w->dense);
        snprintf(w->pattern, sizeof w->pattern, "%s", o->pattern);
        return EXIT_DONE;
    }
    code = pattern_generate(&w->geometry, o->sparsity, o->seed,
                            o->is_exact ? PATTERN_INTEGERS : PATTERN_REAL, w->dense);
    if (code)
        return code;
    pattern_name(o->seed, w->pattern);
    if (o->rows == ROWS_SOME_EMPTY)
        empty_rows(w);
    if (o->rows == ROWS_ONE_LONG)
        fill_last_row(w);
    return EXIT_DONE;
}

static int count_rows(struct workload *w)
{
    const int64_t columns = columns_of(&w->geometry), filters = w->geometry.filters;
    w->row_nonzeros = calloc((size_t)filters, sizeof *w->row_nonzeros);
    w->row_magnitude = calloc((size_t)filters, sizeof *w->row_magnitude);
    if (!w->row_nonzeros || !w->row_magnitude)
        return no_memory(filters);
    for (int64_t i = 0; i < filters * columns; i++) {
        if (w->dense[i] == 0.0F)
            continue;
        w->row_nonzeros[i / columns]++;
        w->row_magnitude[i / columns] += fabsf(w->dense[i]);
        w->nonzeros++;
    }
    w->sparsity = 1.0 - (double)w->nonzeros / ((double)filters * (double)columns);
    return EXIT_DONE;
}

static int make_bias(struct workload *w, struct random_state *state)
{
    w->bias = malloc((size_t)w->geometry.filters * sizeof *w->bias);
    if (!w->bias)
        return no_memory(w->geometry.filters);
    for (int64_t m = 0; m < w->geometry.filters; m++)
        w->bias[m] = random_activation(state, w->is_exact);
    return EXIT_DONE;
}

static int make_tensors(struct workload *w, const struct workload_options *o)
{
    const csrconv_geometry *g = &w->geometry;
    struct random_state state;
    int code;
    random_seed(&state, o->seed ^ 0x61637469766174U);
    if ((code = guarded_make(g->channels * g->height * g->width, g->in_batch_stride, g->batch,
                             w->is_misaligned, &w->in)))
        return code;
    fill_random(&w->in, &state, w->is_exact);
    w->largest_activation = largest_of(&w->in);
    if (o->has_bias && (code = make_bias(w, &state)))
        return code;
    if (!o->has_residual)
        return EXIT_DONE;
    if ((code = workload_make_output(w, &w->residual)))
        return code;
    fill_random(&w->residual, &state, w->is_exact);
    w->largest_residual = largest_of(&w->residual);
    return EXIT_DONE;
}

int workload_make(const csrconv_geometry *geometry, const struct workload_options *options,
                  struct workload *w)
{
    csrconv_geometry *g = &w->geometry;
    int code;
    memset(w, 0, sizeof *w);
    *g = *geometry;
    w->is_exact = options->is_exact;
    w->is_misaligned = options->is_misaligned;
    w->activation = options->activation;
    w->lo = options->lo;
    w->hi = options->hi;
    if (csrconv_output_size(g, &w->out_h, &w->out_w))
        return complain(EXIT_BAD, "geometry", "%s", csrconv_last_error());
    if (!g->in_batch_stride)
        g->in_batch_stride = g->channels * g->height * g->width;
    if (!g->out_batch_stride)
        g->out_batch_stride = g->filters * w->out_h * w->out_w;
    if ((code = fill_weights(w, options)) || (code = count_rows(w)))
        return code;
    if (csrconv_weights_from_dense(w->dense, g->filters, g->channels / g->groups, g->kernel_h,
                                   g->kernel_w, NULL, &w->weights))
        return complain(EXIT_WRONG, "weights", "%s", csrconv_last_error());
    return make_tensors(w, options);
}

void workload_free(struct workload *w)
{
    csrconv_weights_destroy(&w->weights);
    guarded_free(&w->in);
    guarded_free(&w->residual);
    free(w->dense);
    free(w->row_nonzeros);
    free(w->row_magnitude);
    free(w->bias);
    memset(w, 0, sizeof *w);
}

int workload_make_output(const struct workload *w, struct guarded *out)
{
    return guarded_make(w->geometry.filters * w->out_h * w->out_w, w->geometry.out_batch_stride,
                        w->geometry.batch, w->is_misaligned, out);
}

csrconv_epilogue workload_epilogue(const struct workload *w)
{
    return (csrconv_epilogue){ .bias = w->bias,
                               .residual = w->residual.block != NULL,
                               .activation = w->activation,
                               .lo = w->lo,
                               .hi = w->hi };
}

static double flop(const struct workload *w, double weights)
{
    return 2.0 * (double)w->geometry.batch * (double)w->out_h * (double)w->out_w * weights;
}

double workload_flop(const struct workload *w)
{
    return flop(w, (double)w->nonzeros);
}

double workload_dense_flop(const struct workload *w)
{
    return flop(w, (double)w->geometry.filters * (double)columns_of(&w->geometry));
}
