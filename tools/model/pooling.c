#include "families.h"

#include "complain.h"
#include "window.h"

#include <math.h>

int pool_shape(struct operation *operation)
{
    const int64_t *const dims = operation->inputs[0]->dims;
    struct window w;
    int code = operation_check_rank(operation, 0, 4);
    if (!code)
        code = window_of(operation, NULL, &w);
    if (code)
        return code;
    return operation_set_shape(operation, 4, (int64_t[]){ dims[0], dims[1], w.out[0], w.out[1] });
}

/* What one window of one plane comes to. */
typedef float reduction(const struct window *w, const float *plane, int64_t row, int64_t column);

static int pool(struct operation *operation, reduction *reduce)
{
    float *y = operation->output.values;
    struct window w;
    const int code = window_of(operation, NULL, &w);
    if (code)
        return code;
    const int64_t planes = tensor_outer(operation->inputs[0], 2);
    for (int64_t i = 0; i < planes; i++) {
        const float *const plane = operation->inputs[0]->values + i * w.image[0] * w.image[1];
        for (int64_t row = 0; row < w.out[0]; row++)
            for (int64_t column = 0; column < w.out[1]; column++)
                *y++ = reduce(&w, plane, row, column);
    }
    return EXIT_DONE;
}

/* The taps of a window along one axis that are in [low, high): first to end, in steps. */
struct taps {
    int64_t first, end, step;
};

static struct taps taps_within(const struct window *w, int axis, int64_t index, int64_t low,
                               int64_t high)
{
    const int64_t begin = index * w->stride[axis] - w->begin[axis], step = w->dilation[axis];
    const int64_t end = begin + w->kernel[axis] * step;
    const int64_t skipped = begin < low ? (low - begin + step - 1) / step : 0;
    return (struct taps){ begin + skipped * step, end < high ? end : high, step };
}

static int64_t count_taps(struct taps t)
{
    return t.first < t.end ? (t.end - t.first - 1) / t.step + 1 : 0;
}

/* NaN goes through. */
static float maximum(const struct window *w, const float *plane, int64_t row, int64_t column)
{
    const struct taps rows = taps_within(w, 0, row, 0, w->image[0]);
    const struct taps columns = taps_within(w, 1, column, 0, w->image[1]);
    float best = -INFINITY;
    for (int64_t i = rows.first; i < rows.end; i += rows.step)
        for (int64_t k = columns.first; k < columns.end; k += columns.step) {
            const float x = plane[i * w->image[1] + k];
            best = x > best || isnan(x) ? x : best;
        }
    return best;
}

static float sum(const struct window *w, const float *plane, int64_t row, int64_t column)
{
    const struct taps rows = taps_within(w, 0, row, 0, w->image[0]);
    const struct taps columns = taps_within(w, 1, column, 0, w->image[1]);
    double total = 0.0;
    for (int64_t i = rows.first; i < rows.end; i += rows.step)
        for (int64_t k = columns.first; k < columns.end; k += columns.step)
            total += (double)plane[i * w->image[1] + k];
    return (float)total;
}

static float mean_of_image(const struct window *w, const float *plane, int64_t row, int64_t column)
{
    const int64_t count = count_taps(taps_within(w, 0, row, 0, w->image[0])) *
                          count_taps(taps_within(w, 1, column, 0, w->image[1]));
    return count > 0 ? sum(w, plane, row, column) / (float)count : 0.0F;
}

/* The padding counts, but not what a last window of ceil_mode has beyond it. */
static float mean_with_padding(const struct window *w, const float *plane, int64_t row,
                               int64_t column)
{
    const struct taps rows = taps_within(w, 0, row, -w->begin[0], w->image[0] + w->end[0]);
    const struct taps columns = taps_within(w, 1, column, -w->begin[1], w->image[1] + w->end[1]);
    return sum(w, plane, row, column) / (float)(count_taps(rows) * count_taps(columns));
}

int max_pool_compute(struct operation *operation)
{
    return pool(operation, maximum);
}

int average_pool_compute(struct operation *operation)
{
    const bool counts_padding = model_attribute_int(operation->node, "count_include_pad", 0) != 0;
    return pool(operation, counts_padding ? mean_with_padding : mean_of_image);
}

int global_pool_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    int64_t dims[TENSOR_MAX_RANK];
    if (x->rank < 3)
        return operation_check_rank(operation, 0, 4);
    for (int i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : 1;
    return operation_set_shape(operation, x->rank, dims);
}

int global_average_pool_compute(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const int64_t planes = tensor_outer(x, 2), size = tensor_inner(x, 2);
    for (int64_t i = 0; i < planes; i++) {
        double total = 0.0;
        for (int64_t k = 0; k < size; k++)
            total += (double)x->values[i * size + k];
        operation->output.values[i] = (float)(total / (double)size);
    }
    return EXIT_DONE;
}
