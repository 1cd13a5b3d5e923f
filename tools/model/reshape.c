#include "families.h"

#include "complain.h"

#include <stdbool.h>
#include <string.h>

int copy_compute(struct operation *operation)
{
    memcpy(operation->output.values, operation->inputs[0]->values,
           (size_t)tensor_count(&operation->output) * sizeof(float));
    return EXIT_DONE;
}

int flatten_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const int64_t given = model_attribute_int(operation->node, "axis", 1);
    int axis = x->rank;
    if (given != x->rank) {
        const int code = operation_axis(operation, given, x->rank, &axis);
        if (code)
            return code;
    }
    const int64_t dims[] = { tensor_outer(x, axis), tensor_inner(x, axis) };
    return operation_set_shape(operation, 2, dims);
}

/* The one size of -1, if there is one, is what is left. */
static int find_missing(const struct operation *operation, struct operation_ints *sizes,
                        int64_t count)
{
    int64_t known = 1;
    int missing = -1;
    for (int i = 0; i < sizes->count; i++) {
        if (sizes->items[i] == -1 && missing == -1)
            missing = i;
        else if (sizes->items[i] < 0 || __builtin_mul_overflow(known, sizes->items[i], &known))
            return operation_complain(operation, EXIT_BAD, "its shape has a size that cannot be");
    }
    if (missing != -1 && known > 0)
        sizes->items[missing] = count / known;
    if (missing != -1 ? known <= 0 || count % known : known != count)
        return operation_complain(operation, EXIT_BAD, "its input has %lld elements, its shape not",
                                  (long long)count);
    return EXIT_DONE;
}

int reshape_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const bool zero_is_zero = model_attribute_int(operation->node, "allowzero", 0) != 0;
    struct operation_ints sizes;
    int code = operation_ints(operation, "shape", 1, &sizes);
    if (code)
        return code;
    if (sizes.count == -1 || sizes.count > TENSOR_MAX_RANK)
        return operation_complain(operation, EXIT_BAD, "it has no shape, or one of too many sizes");
    for (int i = 0; i < sizes.count; i++)
        if (sizes.items[i] == 0 && !zero_is_zero)
            sizes.items[i] = i < x->rank ? x->dims[i] : -2;
    code = find_missing(operation, &sizes, tensor_count(x));
    return code ? code : operation_set_shape(operation, sizes.count, sizes.items);
}

/* Marks the axes that are named, of so many. */
static int mark_axes(const struct operation *operation, const struct operation_ints *axes, int rank,
                     bool marked[2 * TENSOR_MAX_RANK])
{
    for (int i = 0; i < axes->count; i++) {
        int axis;
        const int code = operation_axis(operation, axes->items[i], rank, &axis);
        if (code)
            return code;
        if (marked[axis])
            return operation_complain(operation, EXIT_BAD, "it names axis %d twice", axis);
        marked[axis] = true;
    }
    return EXIT_DONE;
}

int squeeze_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    bool marked[2 * TENSOR_MAX_RANK] = { false };
    int64_t dims[TENSOR_MAX_RANK];
    struct operation_ints axes;
    int rank = 0;
    int code = operation_ints(operation, "axes", 1, &axes);
    if (!code)
        code = mark_axes(operation, &axes, x->rank, marked);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++) {
        if (marked[i] && x->dims[i] != 1)
            return operation_complain(operation, EXIT_BAD, "axis %d has more than one element", i);
        if (!marked[i] && (axes.count != -1 || x->dims[i] != 1))
            dims[rank++] = x->dims[i];
    }
    return operation_set_shape(operation, rank, dims);
}

int unsqueeze_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    bool marked[2 * TENSOR_MAX_RANK] = { false };
    int64_t dims[TENSOR_MAX_RANK];
    struct operation_ints axes;
    int code = operation_ints(operation, "axes", 1, &axes);
    if (code)
        return code;
    const int rank = x->rank + axes.count;
    if (axes.count < 0 || rank > TENSOR_MAX_RANK)
        return operation_complain(operation, EXIT_BAD, "it has no axes, or too many");
    code = mark_axes(operation, &axes, rank, marked);
    if (code)
        return code;
    for (int i = 0, next = 0; i < rank; i++)
        dims[i] = marked[i] ? 1 : x->dims[next++];
    return operation_set_shape(operation, rank, dims);
}
