#include "operator.h"

#include "complain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* 64 GB of floats: more than a network that is run here has, and far from any overflow. */
#define MOST_ELEMENTS ((int64_t)1 << 34)

int operation_complain(const struct operation *operation, int code, const char *format, ...)
{
    const struct model_node *const node = operation->node;
    const size_t first = node->output_count ? node->outputs[0] : MODEL_NONE;
    const char *name = node->name;
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!*name && first != MODEL_NONE)
        name = operation->model->values[first].name;
    return complain(code, operation->model->path, "node %s (%s): %s", name, node->op, what);
}

const struct tensor *operation_input(const struct operation *operation, size_t index)
{
    return index < operation->node->input_count ? operation->inputs[index] : NULL;
}

int operation_check_rank(const struct operation *operation, size_t index, int rank)
{
    const struct tensor *const t = operation->inputs[index];
    char shape[TENSOR_SHAPE_TEXT];
    if (t->rank == rank)
        return EXIT_DONE;
    return operation_complain(operation, EXIT_REFUSED, "input %zu has shape %s, not %d dimensions",
                              index, tensor_shape_text(t->rank, t->dims, shape), rank);
}

int operation_axis(const struct operation *operation, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return operation_complain(operation, EXIT_BAD,
                                  "there is no axis %" PRId64 " of %d dimensions", axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return EXIT_DONE;
}

int operation_set_shape(struct operation *operation, int rank, const int64_t *dims)
{
    char shape[TENSOR_SHAPE_TEXT];
    bool fits = true;
    int64_t count;
    if (rank > TENSOR_MAX_RANK)
        return operation_complain(operation, EXIT_REFUSED, "its output has %d dimensions", rank);
    for (int i = 0; i < rank; i++)
        fits = fits && dims[i] > 0;
    if (!fits || !tensor_product(rank, dims, &count) || count > MOST_ELEMENTS)
        return operation_complain(operation, EXIT_REFUSED, "its output would have shape %s",
                                  tensor_shape_text(rank, dims, shape));
    operation->output.rank = rank;
    memcpy(operation->output.dims, dims, (size_t)rank * sizeof *dims);
    return EXIT_DONE;
}

int operation_same_shape(struct operation *operation)
{
    return operation_set_shape(operation, operation->inputs[0]->rank, operation->inputs[0]->dims);
}

static int too_long(const struct operation *operation, const char *what, size_t count)
{
    return operation_complain(operation, EXIT_BAD, "its %s has %zu elements", what, count);
}

int operation_ints(const struct operation *operation, const char *attribute, size_t input,
                   struct operation_ints *out)
{
    const size_t most = sizeof out->items / sizeof *out->items;
    const struct model_attribute *const a =
        model_attribute(operation->node, attribute, MODEL_ATTRIBUTE_INTS);
    out->count = -1;
    if (a) {
        if (a->count > most)
            return too_long(operation, attribute, a->count);
        out->count = (int)a->count;
        for (int i = 0; i < out->count; i++)
            out->items[i] = a->ints[i];
        return EXIT_DONE;
    }
    if (model_node_input(operation->node, input) == MODEL_NONE)
        return EXIT_DONE;
    const struct model_tensor *const t =
        model_constant_input(operation->model, operation->node, input);
    if (!t || !model_is_integer(t) || t->places)
        return operation_complain(operation, EXIT_REFUSED,
                                  "its %s is no constant of 32 or 64-bit integers", attribute);
    if (t->count > (int64_t)most)
        return too_long(operation, attribute, (size_t)t->count);
    out->count = (int)t->count;
    for (int i = 0; i < out->count; i++)
        out->items[i] = model_integer(t, i);
    return EXIT_DONE;
}

static int64_t product(const struct tensor *tensor, int first, int end)
{
    int64_t count = 1;
    for (int i = first; i < end; i++)
        count *= tensor->dims[i];
    return count;
}

int64_t tensor_outer(const struct tensor *tensor, int axis)
{
    return product(tensor, 0, axis);
}

int64_t tensor_inner(const struct tensor *tensor, int axis)
{
    return product(tensor, axis, tensor->rank);
}
