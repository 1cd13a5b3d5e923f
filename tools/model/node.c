#include "node.h"

#include "complain.h"
#include "shape_values.h"

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

bool node_ints(const struct model *model, const struct model_node *node,
               const struct shapes *shapes, size_t input, const char *attribute,
               struct shape_ints *out)
{
    const struct model_attribute *const a = model_attribute(node, attribute, MODEL_ATTRIBUTE_INTS);
    *out = (struct shape_ints){ .is_known = true, .rank = 1 };
    if (!a)
        return shape_values_of(model, shapes, model_node_input(node, input), out);
    if (a->count > SHAPE_MOST_INTS)
        return false;
    out->count = a->count;
    memcpy(out->items, a->ints, out->count * sizeof *out->items);
    return true;
}
