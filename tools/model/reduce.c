#include "computations.h"

#include "complain.h"
#include "node.h"

#include <stdlib.h>

/* Sums are kept in double until all of their elements are in. */
struct reduction {
    const struct tensor *input;
    int64_t steps[TENSOR_MAX_RANK]; /* of the sums; 0 along an axis that is reduced */
    double *sums;
};

/* The output's elements stand in the order of the axes that stay. */
static int64_t find_steps(const struct operation *operation, struct reduction *r)
{
    const struct tensor *const x = operation->inputs[0];
    bool is_reduced[TENSOR_MAX_RANK] = { false };
    struct shape_ints axes;
    int64_t count = 1;
    const bool has_axes =
        node_ints(operation->model, operation->node, operation->shapes, 1, "axes", &axes) &&
        axes.count > 0;
    for (size_t i = 0; has_axes && i < axes.count; i++) {
        int axis;
        if (node_axis(axes.items[i], x->rank, &axis))
            is_reduced[axis] = true;
    }
    for (int i = x->rank - 1; i >= 0; i--) {
        r->steps[i] = has_axes && !is_reduced[i] ? count : 0;
        count *= has_axes && !is_reduced[i] ? x->dims[i] : 1;
    }
    return count;
}

/* Goes through the axes from this one on; returns where the input goes on. */
static const float *add_up(const struct reduction *r, int axis, const float *x, double *sum)
{
    if (axis == r->input->rank) {
        *sum += (double)*x;
        return x + 1;
    }
    for (int64_t i = 0; i < r->input->dims[axis]; i++)
        x = add_up(r, axis + 1, x, sum + i * r->steps[axis]);
    return x;
}

int reduce_mean_compute(const struct operation *operation)
{
    struct reduction r = { .input = operation->inputs[0] };
    const int64_t count = find_steps(operation, &r);
    if (model_attribute_int(operation->node, "noop_with_empty_axes", 0))
        return operation_complain(operation, EXIT_REFUSED, "noop_with_empty_axes is not supported");
    r.sums = calloc((size_t)count, sizeof *r.sums);
    if (!r.sums)
        return operation_complain(operation, EXIT_WRONG, "out of memory");
    add_up(&r, 0, r.input->values, r.sums);
    for (int64_t i = 0; i < count; i++)
        operation->output.values[i] =
            (float)(r.sums[i] * (double)count / (double)tensor_count(r.input));
    free(r.sums);
    return EXIT_DONE;
}
