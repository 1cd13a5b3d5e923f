#include "node.h"

#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int node_complain(const struct model *model, const struct model_node *node, int code,
                  const char *format, ...)
{
    const size_t first = node->output_count ? node->outputs[0] : MODEL_NONE;
    const char *const name =
        *node->name || first == MODEL_NONE ? node->name : model->values[first].name;
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return complain(code, model->path, "node %s (%s): %s", name, node->op, what);
}

bool node_axis(int64_t axis, int rank, int *out)
{
    *out = (int)(axis < 0 ? axis + rank : axis);
    return axis >= -rank && axis < rank;
}

bool node_ints(const struct model *model, const struct model_node *node, size_t input,
               const char *attribute, struct node_ints *out)
{
    const size_t most = sizeof out->items / sizeof *out->items;
    const struct model_tensor *const tensor = model_constant_input(model, node, input);
    const struct model_attribute *const a = model_attribute(node, attribute, MODEL_ATTRIBUTE_INTS);
    if (a && a->count <= most) {
        out->count = a->count;
        memcpy(out->items, a->ints, out->count * sizeof *out->items);
        return true;
    }
    if (a || !tensor || !model_is_integer(tensor) || tensor->places ||
        (uint64_t)tensor->count > most)
        return false;
    out->count = (size_t)tensor->count;
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = model_integer(tensor, (int64_t)i);
    return true;
}
