#include "target.h"

#include "complain.h"
#include "nearest.h"
#include "operator.h"

#include <inttypes.h>
#include <string.h>

static bool is_computed(const struct model *model, size_t value)
{
    return model->values[value].node != MODEL_NONE;
}

static int only_output(const struct model *model, size_t *value)
{
    if (model->output_count != 1)
        return complain(EXIT_BAD, "--layer", "is needed: %s has %zu outputs", model->path,
                        model->output_count);
    *value = model->outputs[0];
    if (!is_computed(model, *value))
        return complain(EXIT_REFUSED, model->path, "its output %s is computed by no node",
                        model->values[*value].name);
    return EXIT_DONE;
}

int target_find(const struct model *model, const char *name, size_t *value)
{
    struct nearest nearest = nearest_to(name ? name : "");
    if (!name)
        return only_output(model, value);
    for (*value = 0; *value < model->value_count; ++*value)
        if (is_computed(model, *value)) {
            if (strcmp(model->values[*value].name, name) == 0)
                return EXIT_DONE;
            nearest_consider(&nearest, model->values[*value].name);
        }
    for (size_t i = 0; i < model->node_count; i++) {
        const struct model_node *const node = &model->nodes[i];
        *value = node->output_count ? node->outputs[0] : MODEL_NONE;
        if (*value != MODEL_NONE && strcmp(node->name, name) == 0)
            return EXIT_DONE;
        nearest_consider(&nearest, node->name);
    }
    if (nearest.best)
        return complain(EXIT_BAD, "--layer", "%s has no \"%s\"; did you mean \"%s\"?", model->path,
                        name, nearest.best);
    return complain(EXIT_BAD, "--layer", "%s has no node or value \"%s\"", model->path, name);
}

static void mark_inputs(const struct model_node *node, bool *values)
{
    const struct operator_entry *const op = operator_of(node);
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != MODEL_NONE && (!op || operator_takes_floats(op, i)))
            values[node->inputs[i]] = true;
}

/* Of a node only the first output is made. */
static int mark_node(const struct model *model, size_t index, bool *values, bool *nodes)
{
    const struct model_node *const node = &model->nodes[index];
    for (size_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i] == MODEL_NONE || !values[node->outputs[i]])
            continue;
        if (i > 0)
            return complain(EXIT_REFUSED, model->path,
                            "output %zu of node %s (%s) is not supported", i,
                            model->values[node->outputs[i]].name, node->op);
        nodes[index] = true;
        mark_inputs(node, values);
    }
    return EXIT_DONE;
}

int target_mark(const struct model *model, size_t target, bool *values, bool *nodes)
{
    int code = EXIT_DONE;
    values[target] = true;
    for (size_t i = model->node_count; !code && i-- > 0;)
        code = mark_node(model, i, values, nodes);
    return code;
}

/* The batch may be another than the file declares. */
static int check_shape(const struct model_input *input, const struct model *model, const char *name,
                       const struct tensor *tensor)
{
    const struct model_shape *const want = &input->shape;
    char got[TENSOR_SHAPE_TEXT], declared[TENSOR_SHAPE_TEXT];
    bool fits = want->rank < 0 || want->rank == tensor->rank;
    for (int i = 1; fits && i < want->rank; i++)
        fits = want->dims[i] < 0 || want->dims[i] == tensor->dims[i];
    if (fits)
        return EXIT_DONE;
    return complain(EXIT_BAD, name, "shape %s is not %s, which %s has for its input %s",
                    tensor_shape_text(tensor->rank, tensor->dims, got),
                    tensor_shape_text(want->rank, want->dims, declared), model->path,
                    model->values[input->value].name);
}

int target_input(const struct model *model, const bool *values, const char *name,
                 const struct tensor *tensor, size_t *value)
{
    const struct model_input *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < model->input_count; i++)
        if (values[model->inputs[i].value]) {
            found = &model->inputs[i];
            count++;
        }
    if (!found || count != 1)
        return complain(EXIT_REFUSED, model->path, "needs %zu inputs, not one", count);
    if (tensor_count(tensor) < 1)
        return complain(EXIT_BAD, name, "holds no element");
    *value = found->value;
    return check_shape(found, model, name, tensor);
}
