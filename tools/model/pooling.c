#include "computations.h"

#include "complain.h"
#include "window.h"

#include <math.h>

/* The windows, and the size of the planes that they slide over. */
struct pool {
    struct window window;
    const int64_t *image;
};

/* What one window of one plane comes to. */
typedef float reduction(const struct pool *p, const float *plane, int64_t row, int64_t column);

static int pool(const struct operation *operation, reduction *reduce)
{
    const struct tensor *const x = operation->inputs[0];
    struct pool p = { .image = x->dims + 2 };
    float *y = operation->output.values;
    const int code = window_read(operation->model, operation->node, NULL, p.image, &p.window);
    if (code)
        return code;
    for (int64_t i = 0; i < tensor_outer(x, 2); i++) {
        const float *const plane = x->values + i * p.image[0] * p.image[1];
        for (int64_t row = 0; row < p.window.out[0]; row++)
            for (int64_t column = 0; column < p.window.out[1]; column++)
                *y++ = reduce(&p, plane, row, column);
    }
    return EXIT_DONE;
}

/* The taps of a window along one axis that are in [low, high): first to end, in steps. */
struct taps {
    int64_t first, end, step;
};

static struct taps taps_within(const struct pool *p, int axis, int64_t index, int64_t low,
                               int64_t high)
{
    const int64_t begin = index * p->window.stride[axis] - p->window.before[axis],
                  step = p->window.dilation[axis];
    const int64_t end = begin + p->window.kernel[axis] * step;
    const int64_t skipped = begin < low ? (low - begin + step - 1) / step : 0;
    return (struct taps){ begin + skipped * step, end < high ? end : high, step };
}

static int64_t count_taps(struct taps t)
{
    return t.first < t.end ? (t.end - t.first - 1) / t.step + 1 : 0;
}

/* NaN goes through. */
static float maximum(const struct pool *p, const float *plane, int64_t row, int64_t column)
{
    const struct taps rows = taps_within(p, 0, row, 0, p->image[0]);
    const struct taps columns = taps_within(p, 1, column, 0, p->image[1]);
    float best = -INFINITY;
    for (int64_t i = rows.first; i < rows.end; i += rows.step)
        for (int64_t k = columns.first; k < columns.end; k += columns.step) {
            const float x = plane[i * p->image[1] + k];
            best = x > best || isnan(x) ? x : best;
        }
    return best;
}

static float sum(const struct pool *p, const float *plane, int64_t row, int64_t column)
{
    const struct taps rows = taps_within(p, 0, row, 0, p->image[0]);
    const struct taps columns = taps_within(p, 1, column, 0, p->image[1]);
    double total = 0.0;
    for (int64_t i = rows.first; i < rows.end; i += rows.step)
        for (int64_t k = columns.first; k < columns.end; k += columns.step)
            total += (double)plane[i * p->image[1] + k];
    return (float)total;
}

static float mean_of_image(const struct pool *p, const float *plane, int64_t row, int64_t column)
{
    const int64_t count = count_taps(taps_within(p, 0, row, 0, p->image[0])) *
                          count_taps(taps_within(p, 1, column, 0, p->image[1]));
    return count > 0 ? sum(p, plane, row, column) / (float)count : 0.0F;
}

/* The padding counts, but not what a last window of ceil_mode has beyond it. */
static float mean_with_padding(const struct pool *p, const float *plane, int64_t row,
                               int64_t column)
{
    const struct taps rows =
        taps_within(p, 0, row, -p->window.before[0], p->image[0] + p->window.after[0]);
    const struct taps columns =
        taps_within(p, 1, column, -p->window.before[1], p->image[1] + p->window.after[1]);
    return sum(p, plane, row, column) / (float)(count_taps(rows) * count_taps(columns));
}

int max_pool_compute(const struct operation *operation)
{
    return pool(operation, maximum);
}

int average_pool_compute(const struct operation *operation)
{
    const bool counts_padding = model_attribute_int(operation->node, "count_include_pad", 0) != 0;
    return pool(operation, counts_padding ? mean_with_padding : mean_of_image);
}

int global_average_pool_compute(const struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const int code = operation_check_rank(operation, 3, TENSOR_MAX_RANK);
    if (code)
        return code;
    const int64_t planes = tensor_outer(x, 2), size = tensor_inner(x, 2);
    for (int64_t i = 0; i < planes; i++) {
        double total = 0.0;
        for (int64_t k = 0; k < size; k++)
            total += (double)x->values[i * size + k];
        operation->output.values[i] = (float)(total / (double)size);
    }
    return EXIT_DONE;
}
