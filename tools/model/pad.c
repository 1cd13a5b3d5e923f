#include "families.h"

#include "complain.h"

#include <inttypes.h>
#include <stdbool.h>
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

/* All begins, then all ends; of all axes or those that are named. */
static int take_amounts(const struct operation *operation, struct padding *out)
{
    const int rank = operation->inputs[0]->rank;
    struct operation_ints pads, axes;
    int code = operation_ints(operation, "pads", 1, &pads);
    if (!code)
        code = operation_ints(operation, "axes", 3, &axes);
    if (code)
        return code;
    const int count = axes.count == -1 ? rank : axes.count;
    if (count > rank || pads.count != 2 * count)
        return operation_complain(operation, EXIT_BAD, "it has %d pads for %d dimensions",
                                  pads.count, rank);
    for (int i = 0; i < count; i++) {
        int axis;
        if ((code = operation_axis(operation, axes.count == -1 ? i : axes.items[i], rank, &axis)))
            return code;
        out->begin[axis] = pads.items[i];
        out->end[axis] = pads.items[count + i];
        if (llabs(out->begin[axis]) > MOST || llabs(out->end[axis]) > MOST)
            return operation_complain(operation, EXIT_BAD, "axis %d is padded by too much", axis);
    }
    return EXIT_DONE;
}

static int padding_of(const struct operation *operation, struct padding *out)
{
    *out = (struct padding){ 0 };
    const int code = take_mode(operation, out);
    return code ? code : take_amounts(operation, out);
}

int pad_shape(struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    int64_t dims[TENSOR_MAX_RANK];
    struct padding p;
    const int code = padding_of(operation, &p);
    if (code)
        return code;
    for (int i = 0; i < x->rank; i++) {
        const bool is_reflected = p.mode == PAD_REFLECT;
        if (is_reflected && (p.begin[i] >= x->dims[i] || p.end[i] >= x->dims[i]))
            return operation_complain(operation, EXIT_BAD, "axis %d is too short to reflect", i);
        if (__builtin_add_overflow(x->dims[i], p.begin[i], &dims[i]) ||
            __builtin_add_overflow(dims[i], p.end[i], &dims[i]))
            return operation_complain(operation, EXIT_BAD, "axis %d would get too long", i);
    }
    return operation_set_shape(operation, x->rank, dims);
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

int pad_compute(struct operation *operation)
{
    struct padding p;
    const int code = padding_of(operation, &p);
    if (!code)
        fill(operation, &p, 0, operation->inputs[0]->values, operation->output.values);
    return code;
}
