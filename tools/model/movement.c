#include "families.h"

#include "complain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* How elements of the input are come by: as the axes of the output go on, the input goes on so. */
struct walk {
    const struct tensor *output;
    int64_t steps[TENSOR_MAX_RANK];
};

/* Goes through the axes from this one on; returns where the output goes on. */
static float *copy(const struct walk *walk, int axis, const float *x, float *y)
{
    if (axis == walk->output->rank) {
        *y = *x;
        return y + 1;
    }
    for (int64_t i = 0; i < walk->output->dims[axis]; i++)
        y = copy(walk, axis + 1, x + i * walk->steps[axis], y);
    return y;
}

/* ------------------------------------------------------------------------------------ Transpose */

/* Which axis of the input each of the output is: reversed if nothing is given. */
static int take_permutation(const struct operation *operation, int order[TENSOR_MAX_RANK])
{
    const int rank = operation->inputs[0]->rank;
    bool taken[TENSOR_MAX_RANK] = { false };
    struct operation_ints perm;
    const int code = operation_ints(operation, "perm", MODEL_NONE, &perm);
    if (code)
        return code;
    for (int i = 0; i < rank; i++) {
        const int64_t axis = perm.count == -1 ? rank - 1 - i : i < perm.count ? perm.items[i] : -1;
        if (axis < 0 || axis >= rank || taken[axis] || perm.count > rank)
            return operation_complain(operation, EXIT_BAD, "its perm is none of %d axes", rank);
        taken[axis] = true;
        order[i] = (int)axis;
    }
    return EXIT_DONE;
}

int transpose_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    int64_t dims[TENSOR_MAX_RANK];
    int order[TENSOR_MAX_RANK];
    const int code = take_permutation(operation, order);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[order[i]];
    return operation_set_shape(operation, x->rank, dims);
}

int transpose_compute(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    struct walk walk = { .output = &operation->output };
    int order[TENSOR_MAX_RANK];
    const int code = take_permutation(operation, order);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++)
        walk.steps[i] = tensor_inner(x, order[i] + 1);
    copy(&walk, 0, x->values, operation->output.values);
    return EXIT_DONE;
}

/* --------------------------------------------------------------------------------------- Concat */

/* Of opset 1 to 3 the axis may be left out. */
static int concat_axis(const struct operation *operation, int *axis)
{
    return operation_axis(operation, model_attribute_int(operation->node, "axis", 1),
                          operation->inputs[0]->rank, axis);
}

int concat_shape(struct operation *operation)
{
    const struct tensor *const first = operation->inputs[0];
    int64_t dims[TENSOR_MAX_RANK];
    char shape[TENSOR_SHAPE_TEXT];
    int axis;
    const int code = concat_axis(operation, &axis);
    if (code)
        return code;
    memcpy(dims, first->dims, sizeof dims);
    for (size_t i = 1; i < operation->node->input_count; i++) {
        const struct tensor *const x = operation->inputs[i];
        bool fits = x && x->rank == first->rank;
        for (int k = 0; fits && k < first->rank; k++)
            fits = k == axis || x->dims[k] == first->dims[k];
        if (!fits || __builtin_add_overflow(dims[axis], x->dims[axis], &dims[axis]))
            return operation_complain(operation, EXIT_BAD, "input %zu does not go with shape %s", i,
                                      tensor_shape_text(first->rank, first->dims, shape));
    }
    return operation_set_shape(operation, first->rank, dims);
}

int concat_compute(struct operation *operation)
{
    float *const values = operation->output.values;
    int64_t place = 0;
    int axis;
    const int code = concat_axis(operation, &axis);
    if (code)
        return code;
    const int64_t outer = tensor_outer(&operation->output, axis);
    const int64_t whole = tensor_inner(&operation->output, axis);
    for (size_t i = 0; i < operation->node->input_count; i++) {
        const struct tensor *const x = operation->inputs[i];
        const int64_t part = tensor_inner(x, axis);
        for (int64_t k = 0; k < outer; k++)
            memcpy(values + k * whole + place, x->values + k * part, (size_t)part * sizeof(float));
        place += part;
    }
    return EXIT_DONE;
}

/* ---------------------------------------------------------------------------------------- Slice */

struct slice {
    int64_t first[TENSOR_MAX_RANK], step[TENSOR_MAX_RANK], count[TENSOR_MAX_RANK];
};

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* One axis of `size`, as Python's slices are. */
static int cut_axis(const struct operation *operation, int axis, int64_t start, int64_t end,
                    int64_t step, struct slice *slice)
{
    const int64_t size = operation->inputs[0]->dims[axis];
    const int64_t behind = step < 0 ? -1 : 0;
    if (step == 0 || step == INT64_MIN)
        return operation_complain(operation, EXIT_BAD, "its step along axis %d is %" PRId64, axis,
                                  step);
    start = clamp(start < 0 ? start + size : start, 0, size + behind);
    end = clamp(end < 0 ? end + size : end, behind, size);
    const int64_t length = step < 0 ? start - end : end - start;
    const int64_t stride = step < 0 ? -step : step;
    slice->first[axis] = start;
    slice->step[axis] = step;
    slice->count[axis] = length <= 0 ? 0 : (length - 1) / stride + 1;
    return EXIT_DONE;
}

static int take_slice(const struct operation *operation, struct slice *slice)
{
    const struct tensor *const x = operation->inputs[0];
    struct operation_ints starts, ends, axes, steps;
    int code;
    if ((code = operation_ints(operation, "starts", 1, &starts)) ||
        (code = operation_ints(operation, "ends", 2, &ends)) ||
        (code = operation_ints(operation, "axes", 3, &axes)) ||
        (code = operation_ints(operation, "steps", 4, &steps)))
        return code;
    if (starts.count < 0 || ends.count != starts.count || starts.count > x->rank ||
        (axes.count != -1 && axes.count != starts.count) ||
        (steps.count != -1 && steps.count != starts.count))
        return operation_complain(operation, EXIT_BAD, "its starts, ends, axes, steps differ");
    for (int i = 0; i < x->rank; i++) {
        slice->first[i] = 0;
        slice->step[i] = 1;
        slice->count[i] = x->dims[i];
    }
    for (int i = 0; i < starts.count; i++) {
        int axis;
        if ((code =
                 operation_axis(operation, axes.count == -1 ? i : axes.items[i], x->rank, &axis)) ||
            (code = cut_axis(operation, axis, starts.items[i], ends.items[i],
                             steps.count == -1 ? 1 : steps.items[i], slice)))
            return code;
    }
    return EXIT_DONE;
}

int slice_shape(struct operation *operation)
{
    struct slice slice;
    const int code = take_slice(operation, &slice);
    return code ? code : operation_set_shape(operation, operation->inputs[0]->rank, slice.count);
}

int slice_compute(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    struct walk walk = { .output = &operation->output };
    const float *first = x->values;
    struct slice slice;
    const int code = take_slice(operation, &slice);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++) {
        const int64_t inner = tensor_inner(x, i + 1);
        first += slice.first[i] * inner;
        /* The step of an axis of one element is never gone, and may be any number. */
        walk.steps[i] = slice.count[i] > 1 ? slice.step[i] * inner : 0;
    }
    copy(&walk, 0, first, operation->output.values);
    return EXIT_DONE;
}
