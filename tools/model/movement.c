#include "computations.h"

#include "complain.h"
#include "node.h"
#include "walk.h"

#include <string.h>

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

void walk_copy(const struct walk *walk, const float *x, float *y)
{
    copy(walk, 0, x, y);
}

/* The axes are reversed if nothing is given. */
int transpose_compute(const struct operation *operation)
{
    const struct tensor *const x = operation->inputs[0];
    const struct model_attribute *const order =
        model_attribute(operation->node, "perm", MODEL_ATTRIBUTE_INTS);
    struct walk walk = { .output = &operation->output };
    for (int i = 0; i < x->rank; i++)
        walk.steps[i] = tensor_inner(x, order ? (int)order->ints[i] + 1 : x->rank - i);
    walk_copy(&walk, x->values, operation->output.values);
    return EXIT_DONE;
}

int concat_compute(const struct operation *operation)
{
    float *const values = operation->output.values;
    int64_t place = 0;
    int axis;
    node_axis(model_attribute_int(operation->node, "axis", 1), operation->output.rank, &axis);
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
