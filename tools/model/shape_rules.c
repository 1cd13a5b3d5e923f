/* What shape each operator makes of those of its inputs, which are all known. */
#include "shape_rules.h"

#include "complain.h"
#include "node.h"
#include "window.h"

#include <string.h>

static int refuse(const struct shape_step *step, const char *what)
{
    return node_complain(step->model, step->node, EXIT_BAD, "%s", what);
}

static int not_followed(struct shape_step *step)
{
    step->out.rank = -1;
    return EXIT_DONE;
}

/* A scalar stands for an input that is left out, which no rule takes. */
static struct model_shape shape_at(const struct shape_step *step, size_t input)
{
    const size_t value = model_node_input(step->node, input);
    return value == MODEL_NONE ? (struct model_shape){ 0 } : step->shapes->of[value];
}

static int64_t product_of(const struct model_shape *shape, int from, int to)
{
    int64_t product;
    return tensor_product(to - from, shape->dims + from, &product) ? product : -1;
}

int same_rule(struct shape_step *step)
{
    step->out = shape_at(step, 0);
    return EXIT_DONE;
}

/* As numpy does: the last dimensions meet, and sizes of 1 stretch. */
static bool broadcast(struct model_shape *shape, struct model_shape other)
{
    if (other.rank > shape->rank) {
        const struct model_shape longer = other;
        other = *shape;
        *shape = longer;
    }
    for (int i = 0; i < other.rank; i++) {
        int64_t *const size = &shape->dims[shape->rank - 1 - i];
        const int64_t more = other.dims[other.rank - 1 - i];
        if (*size != more && *size != 1 && more != 1)
            return false;
        *size = *size == 1 ? more : *size;
    }
    return true;
}

int broadcast_rule(struct shape_step *step)
{
    step->out = shape_at(step, 0);
    for (size_t i = 1; i < step->node->input_count; i++)
        if (!broadcast(&step->out, shape_at(step, i)))
            return refuse(step, "the shapes of its inputs do not go together");
    return EXIT_DONE;
}

int conv_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0), weights = shape_at(step, 1);
    const int64_t groups = model_attribute_int(step->node, "group", 1);
    struct window window;
    if (in.rank != 4 || weights.rank != 4)
        return not_followed(step);
    if (groups < 1 || in.dims[1] % groups || weights.dims[1] != in.dims[1] / groups ||
        weights.dims[0] % groups)
        return refuse(step, "its weights are for another number of channels or groups");
    const int code = window_read(step->model, step->node, weights.dims + 2, in.dims + 2, &window);
    if (!code)
        step->out =
            (struct model_shape){ 4,
                                  { in.dims[0], weights.dims[0], window.out[0], window.out[1] } };
    return code;
}

int pool_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    struct window window;
    if (in.rank != 4)
        return not_followed(step);
    const int code = window_read(step->model, step->node, NULL, in.dims + 2, &window);
    if (!code)
        step->out =
            (struct model_shape){ 4, { in.dims[0], in.dims[1], window.out[0], window.out[1] } };
    return code;
}

int global_pool_rule(struct shape_step *step)
{
    step->out = shape_at(step, 0);
    for (int i = 2; i < step->out.rank; i++)
        step->out.dims[i] = 1;
    return EXIT_DONE;
}

int concat_rule(struct shape_step *step)
{
    int axis;
    step->out = shape_at(step, 0);
    if (!node_axis(model_attribute_int(step->node, "axis", 1), step->out.rank, &axis))
        return refuse(step, "it has no such axis");
    for (size_t i = 1; i < step->node->input_count; i++) {
        const struct model_shape more = shape_at(step, i);
        for (int d = 0; d < step->out.rank; d++)
            if (more.rank != step->out.rank || (d != axis && more.dims[d] != step->out.dims[d]))
                return refuse(step, "the shapes of its inputs do not go together");
        if (__builtin_add_overflow(step->out.dims[axis], more.dims[axis], &step->out.dims[axis]))
            return refuse(step, "its output is too large");
    }
    return EXIT_DONE;
}

int gemm_rule(struct shape_step *step)
{
    const struct model_shape a = shape_at(step, 0), b = shape_at(step, 1);
    const int is_a_turned = model_attribute_int(step->node, "transA", 0) != 0;
    const int is_b_turned = model_attribute_int(step->node, "transB", 0) != 0;
    if (a.rank != 2 || b.rank != 2 || a.dims[!is_a_turned] != b.dims[is_b_turned])
        return refuse(step, "its matrices do not go together");
    step->out = (struct model_shape){ 2, { a.dims[is_a_turned], b.dims[!is_b_turned] } };
    return EXIT_DONE;
}

int matmul_rule(struct shape_step *step)
{
    struct model_shape a = shape_at(step, 0), b = shape_at(step, 1);
    if (a.rank < 2 || b.rank < 2)
        return not_followed(step);
    const int64_t rows = a.dims[a.rank - 2], columns = b.dims[b.rank - 1];
    if (a.dims[a.rank - 1] != b.dims[b.rank - 2])
        return refuse(step, "its matrices do not go together");
    a.rank -= 2;
    b.rank -= 2;
    if (!broadcast(&a, b))
        return refuse(step, "its matrices do not go together");
    a.dims[a.rank] = rows;
    a.dims[a.rank + 1] = columns;
    a.rank += 2;
    step->out = a;
    return EXIT_DONE;
}

int flatten_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    const int64_t given = model_attribute_int(step->node, "axis", 1);
    const int64_t axis = given < 0 ? given + in.rank : given;
    if (axis < 0 || axis > in.rank)
        return refuse(step, "it has no such axis");
    step->out = (struct model_shape){
        2, { product_of(&in, 0, (int)axis), product_of(&in, (int)axis, in.rank) }
    };
    return EXIT_DONE;
}

/* 0 keeps a size, -1 is what is left over. */
int reshape_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    const bool is_zero_kept = model_attribute_int(step->node, "allowzero", 0) == 0;
    int64_t known;
    struct shape_ints wanted;
    int open = -1;
    if (!node_ints(step->model, step->node, step->shapes, 1, "shape", &wanted))
        return not_followed(step);
    if (wanted.count > TENSOR_MAX_RANK)
        return refuse(step, "it has more than 8 dimensions");
    step->out.rank = (int)wanted.count;
    for (int i = 0; i < step->out.rank; i++) {
        const int64_t size = wanted.items[i];
        if (size < -1 || (size == -1 && open >= 0) || (size == 0 && is_zero_kept && i >= in.rank))
            return refuse(step, "its shape is none");
        if (size == -1)
            open = i;
        step->out.dims[i] = size == 0 && is_zero_kept ? in.dims[i] : size == -1 ? 1 : size;
    }
    const int64_t count = product_of(&in, 0, in.rank);
    if (!tensor_product(step->out.rank, step->out.dims, &known) || (known == 0 && open >= 0) ||
        (open >= 0 ? count % known : count - known) != 0)
        return refuse(step, "its shape has another number of elements than its input");
    if (open >= 0)
        step->out.dims[open] = count / known;
    return EXIT_DONE;
}

int pad_rule(struct shape_step *step)
{
    struct shape_ints pads;
    step->out = shape_at(step, 0);
    const size_t rank = (size_t)step->out.rank;
    if (model_node_input(step->node, 3) != MODEL_NONE ||
        !node_ints(step->model, step->node, step->shapes, 1, "pads", &pads))
        return not_followed(step);
    if (pads.count != 2 * rank)
        return refuse(step, "its pads are not two for each dimension");
    for (size_t i = 0; i < rank; i++)
        if (__builtin_add_overflow(step->out.dims[i], pads.items[i], &step->out.dims[i]) ||
            __builtin_add_overflow(step->out.dims[i], pads.items[rank + i], &step->out.dims[i]) ||
            step->out.dims[i] < 0)
            return refuse(step, "its pads leave nothing");
    return EXIT_DONE;
}

int transpose_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    const struct model_attribute *const order =
        model_attribute(step->node, "perm", MODEL_ATTRIBUTE_INTS);
    unsigned seen = 0;
    if (order && order->count != (size_t)in.rank)
        return refuse(step, "its perm is no order of its dimensions");
    step->out.rank = in.rank;
    for (int i = 0; i < in.rank; i++) {
        const int64_t from = order ? order->ints[i] : in.rank - 1 - i;
        if (from < 0 || from >= in.rank || seen >> from & 1)
            return refuse(step, "its perm is no order of its dimensions");
        seen |= 1U << from;
        step->out.dims[i] = in.dims[from];
    }
    return EXIT_DONE;
}

/* Marks the axes of a list, which count among `rank` dimensions. */
static bool mark_axes(const struct shape_ints *axes, int rank, bool marked[TENSOR_MAX_RANK])
{
    for (size_t i = 0; i < axes->count; i++) {
        int axis;
        if (!node_axis(axes->items[i], rank, &axis) || marked[axis])
            return false;
        marked[axis] = true;
    }
    return true;
}

/* Without axes, all sizes of 1 go. */
int squeeze_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    bool marked[TENSOR_MAX_RANK] = { false };
    struct shape_ints axes = { 0 };
    const bool has_axes = node_ints(step->model, step->node, step->shapes, 1, "axes", &axes);
    if (!has_axes && model_node_input(step->node, 1) != MODEL_NONE)
        return not_followed(step);
    if (!mark_axes(&axes, in.rank, marked))
        return refuse(step, "it has no such axes");
    step->out.rank = 0;
    for (int i = 0; i < in.rank; i++) {
        if (marked[i] && in.dims[i] != 1)
            return refuse(step, "it squeezes a size that is not 1");
        if (has_axes ? !marked[i] : in.dims[i] != 1)
            step->out.dims[step->out.rank++] = in.dims[i];
    }
    return EXIT_DONE;
}

int unsqueeze_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    bool marked[TENSOR_MAX_RANK] = { false };
    struct shape_ints axes;
    if (!node_ints(step->model, step->node, step->shapes, 1, "axes", &axes))
        return not_followed(step);
    const size_t rank = (size_t)in.rank + axes.count;
    if (rank > TENSOR_MAX_RANK || !mark_axes(&axes, (int)rank, marked))
        return refuse(step, "it has no such axes");
    step->out.rank = (int)rank;
    for (int i = 0, from = 0; i < step->out.rank; i++)
        step->out.dims[i] = marked[i] ? 1 : in.dims[from++];
    return EXIT_DONE;
}

/* Of the axes, or of all. */
int reduce_rule(struct shape_step *step)
{
    const struct model_shape in = shape_at(step, 0);
    const bool keeps = model_attribute_int(step->node, "keepdims", 1) != 0;
    bool marked[TENSOR_MAX_RANK] = { false };
    struct shape_ints axes = { 0 };
    const bool has_axes =
        node_ints(step->model, step->node, step->shapes, 1, "axes", &axes) && axes.count;
    if (!has_axes && model_node_input(step->node, 1) != MODEL_NONE)
        return not_followed(step);
    if (!mark_axes(&axes, in.rank, marked))
        return refuse(step, "it has no such axes");
    step->out.rank = 0;
    for (int i = 0; i < in.rank; i++) {
        const bool is_reduced = !has_axes || marked[i];
        if (!is_reduced || keeps)
            step->out.dims[step->out.rank++] = is_reduced ? 1 : in.dims[i];
    }
    return EXIT_DONE;
}
