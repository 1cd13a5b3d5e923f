#include "computations.h"

#include "complain.h"
#include "node.h"
#include "shape_rules.h"
#include "walk.h"

/* What is left of one axis. */
struct cut {
    int64_t first, step, count;
};

struct slice {
    struct cut axes[TENSOR_MAX_RANK];
};

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Of an axis of `size`, as Python's slices are; a step of 0 is none. */
static struct cut cut(int64_t size, int64_t start, int64_t end, int64_t step)
{
    const int64_t behind = step < 0 ? -1 : 0;
    start = clamp(start < 0 ? start + size : start, 0, size + behind);
    end = clamp(end < 0 ? end + size : end, behind, size);
    const int64_t length = step < 0 ? start - end : end - start;
    const int64_t stride = step < -INT64_MAX ? INT64_MAX : step < 0 ? -step : step;
    return (struct cut){ start, step, length <= 0 ? 0 : (length - 1) / stride + 1 };
}

static bool take_ints(const struct model *model, const struct model_node *node,
                      const struct shapes *shapes, size_t input, const char *attribute,
                      struct shape_ints *out)
{
    const bool is_there = node_ints(model, node, shapes, input, attribute, out);
    if (!is_there)
        out->count = 0;
    return is_there || model_node_input(node, input) == MODEL_NONE;
}

static int take_slice(const struct model *model, const struct model_node *node,
                      const struct shapes *shapes, int rank, const int64_t *dims,
                      struct slice *slice)
{
    struct shape_ints starts, ends, axes, steps;
    if (!node_ints(model, node, shapes, 1, "starts", &starts) ||
        !node_ints(model, node, shapes, 2, "ends", &ends) ||
        !take_ints(model, node, shapes, 3, "axes", &axes) ||
        !take_ints(model, node, shapes, 4, "steps", &steps))
        return node_complain(model, node, EXIT_REFUSED, "it cuts by what the graph computes");
    if (ends.count != starts.count || starts.count > (size_t)rank ||
        (axes.count && axes.count != starts.count) || (steps.count && steps.count != starts.count))
        return node_complain(model, node, EXIT_BAD, "its starts, ends, axes and steps differ");
    for (int i = 0; i < rank; i++)
        slice->axes[i] = (struct cut){ 0, 1, dims[i] };
    for (size_t i = 0; i < starts.count; i++) {
        const int64_t step = steps.count ? steps.items[i] : 1;
        int axis;
        if (!node_axis(axes.count ? axes.items[i] : (int64_t)i, rank, &axis) || step == 0)
            return node_complain(model, node, EXIT_BAD, "it has no such axis, or a step of 0");
        slice->axes[axis] = cut(dims[axis], starts.items[i], ends.items[i], step);
    }
    return EXIT_DONE;
}

int slice_rule(struct shape_step *step)
{
    const size_t value = model_node_input(step->node, 0);
    struct slice slice;
    if (value == MODEL_NONE)
        return EXIT_DONE;
    const struct model_shape *const in = &step->shapes->of[value];
    const int code = take_slice(step->model, step->node, step->shapes, in->rank, in->dims, &slice);
    if (code)
        return code;
    step->out.rank = in->rank;
    for (int i = 0; i < in->rank; i++)
        step->out.dims[i] = slice.axes[i].count;
    return EXIT_DONE;
}

int slice_compute(const struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    struct walk walk = { .output = &operation->output };
    const float *first = x->values;
    struct slice slice;
    const int code =
        take_slice(operation->model, operation->node, operation->shapes, x->rank, x->dims, &slice);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++) {
        const struct cut *const c = &slice.axes[i];
        const int64_t inner = tensor_inner(x, i + 1);
        first += c->first * inner;
        /* The step of an axis of one element is never gone, and may be any number. */
        walk.steps[i] = c->count > 1 ? c->step * inner : 0;
    }
    walk_copy(&walk, first, operation->output.values);
    return EXIT_DONE;
}
