#include "shape_values.h"

#include <string.h>

bool shape_values_of(const struct model *model, const struct shapes *shapes, size_t value,
                     struct shape_ints *out)
{
    if (value == MODEL_NONE)
        return false;
    const size_t index = model->values[value].tensor;
    const struct model_tensor *const t = index == MODEL_NONE ? NULL : &model->tensors[index];
    *out = shapes->ints[value];
    if (!t)
        return out->is_known;
    if (!model_is_integer(t) || t->places || t->rank > 1 || t->count > SHAPE_MOST_INTS)
        return false;
    *out = (struct shape_ints){ .is_known = true, .rank = t->rank, .count = (size_t)t->count };
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = model_integer(t, (int64_t)i);
    return true;
}

/* A range as Python has it: from the end if it is negative, and no further than there is. */
static size_t place(int64_t index, size_t count)
{
    const int64_t size = (int64_t)count, from_front = index < 0 ? index + size : index;
    return (size_t)(from_front < 0 ? 0 : from_front > size ? size : from_front);
}

static bool shape_of(const struct model_node *node, const struct model_shape *shape,
                     struct shape_ints *out)
{
    if (shape->rank < 0)
        return false;
    const size_t rank = (size_t)shape->rank;
    const size_t first = place(model_attribute_int(node, "start", 0), rank);
    const size_t end = place(model_attribute_int(node, "end", shape->rank), rank);
    *out =
        (struct shape_ints){ .is_known = true, .rank = 1, .count = end > first ? end - first : 0 };
    memcpy(out->items, shape->dims + first, out->count * sizeof *out->items);
    return true;
}

static bool gather(const struct shape_ints *data, const struct shape_ints *indices,
                   struct shape_ints *out)
{
    *out = *indices;
    for (size_t i = 0; i < out->count; i++) {
        const int64_t size = (int64_t)data->count, index = indices->items[i];
        if (data->rank != 1 || index < -size || index >= size)
            return false;
        out->items[i] = data->items[index < 0 ? index + size : index];
    }
    return true;
}

/* Appends the integers at every input; all of them are vectors. */
static bool concat(const struct model *model, const struct model_node *node,
                   const struct shapes *shapes, struct shape_ints *out)
{
    *out = (struct shape_ints){ .is_known = true, .rank = 1 };
    for (size_t i = 0; i < node->input_count; i++) {
        struct shape_ints more;
        if (!shape_values_of(model, shapes, node->inputs[i], &more) || more.rank != 1 ||
            out->count + more.count > SHAPE_MOST_INTS)
            return false;
        memcpy(out->items + out->count, more.items, more.count * sizeof *more.items);
        out->count += more.count;
    }
    return true;
}

/* The same integers as a vector or a scalar. */
static bool turn(struct shape_ints *ints, int rank, struct shape_ints *out)
{
    *out = *ints;
    out->rank = rank;
    return ints->rank == 1 - rank && ints->count == 1;
}

static bool compute(const struct model *model, const struct model_node *node,
                    const struct shapes *shapes, struct shape_ints *out)
{
    const size_t first = model_node_input(node, 0);
    struct shape_ints a, b;
    if (first == MODEL_NONE)
        return false;
    if (strcmp(node->op, "Shape") == 0)
        return shape_of(node, &shapes->of[first], out);
    if (strcmp(node->op, "Concat") == 0)
        return concat(model, node, shapes, out);
    if (!shape_values_of(model, shapes, first, &a))
        return false;
    if (strcmp(node->op, "Gather") == 0)
        return shape_values_of(model, shapes, model_node_input(node, 1), &b) && gather(&a, &b, out);
    if (strcmp(node->op, "Unsqueeze") == 0)
        return turn(&a, 1, out);
    if (strcmp(node->op, "Squeeze") == 0)
        return turn(&a, 0, out);
    *out = a;
    return strcmp(node->op, "Cast") == 0 || strcmp(node->op, "Identity") == 0;
}

bool shape_values_follow(const struct model *model, const struct model_node *node,
                         struct shapes *shapes)
{
    struct shape_ints ints;
    if (*node->domain || !node->output_count || node->outputs[0] == MODEL_NONE ||
        !compute(model, node, shapes, &ints))
        return false;
    shapes->ints[node->outputs[0]] = ints;
    shapes->of[node->outputs[0]] = (struct model_shape){ ints.rank, { (int64_t)ints.count } };
    return true;
}
