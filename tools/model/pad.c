#include "computations.h"

#include "complain.h"
#include "node.h"

#include <stdlib.h>
#include <string.h>

/* More than any tensor has, and far from any overflow. */
#define MOST ((int64_t)1 << 40)

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE };

/* One Pad; an amount below 0 cuts off. */
struct padding {
    enum pad_mode mode;
    float value;
    int64_t begin[TENSOR_MAX_RANK], end[TENSOR_MAX_RANK];
};

static int take_mode(const struct operation *operation, struct padding *out)
{
    static const char *const names[] = { "constant", "reflect", "edge" };
    const char *const mode = model_attribute_string(operation->node, "mode", "constant");
    const struct tensor *const value = operation_input(operation, 2);
    for (int i = 0; i < 3; i++)
        if (strcmp(mode, names[i]) == 0) {
            out->mode = (enum pad_mode)i;
            out->value = value && value->values
                             ? value->values[0]
                             : model_attribute_float(operation->node, "value", 0.0F);
            return EXIT_DONE;
        }
    return operation_complain(operation, EXIT_REFUSED, "its mode is \"%.20s\"", mode);
}

/* All begins, then all ends: as many as the shape rule wants. */
static int take_amounts(const struct operation *operation, struct padding *out)
{
    const struct tensor *const x = operation->inputs[0];
    struct shape_ints pads;
    node_ints(operation->model, operation->node, operation->shapes, 1, "pads", &pads);
    for (int i = 0; i < x->rank; i++) {
        out->begin[i] = pads.items[i];
        out->end[i] = pads.items[x->rank + i];
        if (llabs(out->begin[i]) > MOST || llabs(out->end[i]) > MOST)
            return operation_complain(operation, EXIT_BAD, "axis %d is padded by too much", i);
        if (out->mode == PAD_REFLECT && (out->begin[i] >= x->dims[i] || out->end[i] >= x->dims[i]))
            return operation_complain(operation, EXIT_BAD, "axis %d is too short to reflect", i);
    }
    return EXIT_DONE;
}

/* Where in the input a position along an axis comes from; -1: from the constant. */
static int64_t source(const struct padding *p, int axis, int64_t position, int64_t size)
{
    const int64_t i = position - p->begin[axis];
    if (i >= 0 && i < size)
        return i;
    switch (p->mode) {
    case PAD_REFLECT:
        return i < 0 ? -i : 2 * (size - 1) - i;
    case PAD_EDGE:
        return i < 0 ? 0 : size - 1;
    default:
        return -1;
    }
}

/* Goes through the axes from this one on; x NULL: there is only the constant. */
static float *fill(const struct operation *operation, const struct padding *p, int axis,
                   const float *x, float *y)
{
    const struct tensor *const input = operation->inputs[0];
    if (axis == input->rank) {
        *y = x ? *x : p->value;
        return y + 1;
    }
    const int64_t inner = tensor_inner(input, axis + 1);
    for (int64_t i = 0; i < operation->output.dims[axis]; i++) {
        const int64_t from = source(p, axis, i, input->dims[axis]);
        y = fill(operation, p, axis + 1, x && from >= 0 ? x + from * inner : NULL, y);
    }
    return y;
}

int pad_compute(const struct operation *operation)
{
    struct padding p = { 0 };
    int code = take_mode(operation, &p);
    if (!code)
        code = take_amounts(operation, &p);
    if (!code)
        fill(operation, &p, 0, operation->inputs[0]->values, operation->output.values);
    return code;
}
