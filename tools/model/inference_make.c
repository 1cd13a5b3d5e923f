#include "inference_parts.h"

#include "complain.h"
#include "convolutions.h"
#include "node.h"
#include "selection.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

/* What is known of the graph while the steps are made. */
struct making {
    struct inference *inference;
    const struct inference_request *request;
    bool *values, *nodes; /* those that the target needs */
    struct convolution_list convolutions;
    int64_t taken; /* elements of constants, for model_allow */
};

static int out_of_memory(const struct model *model)
{
    return complain(EXIT_WRONG, model->path, "out of memory for its graph");
}

/* --------------------------------------------------------------------------------------- shapes */

static int follow_shapes(struct making *making, const struct tensor *input)
{
    struct inference *const inference = making->inference;
    struct model_shape shape = { .rank = input->rank };
    memcpy(shape.dims, input->dims, sizeof shape.dims);
    const int code = shapes_make_of(inference->model, inference->input, &shape, &inference->shapes);
    return code ? code
                : convolutions_of_shapes(inference->model, &inference->shapes,
                                         &making->convolutions);
}

/* Neither empty nor larger than the machine's memory. */
static bool fits_memory(const struct tensor *tensor)
{
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 1)
            return false;
    return tensor_count(tensor) < tensor_memory();
}

static int settle_shape(const struct making *making, size_t value)
{
    const struct model *const model = making->inference->model;
    const struct model_shape *const shape = &making->inference->shapes.of[value];
    struct tensor *const out = &making->inference->values[value];
    const char *const name = model->values[value].name;
    char text[TENSOR_SHAPE_TEXT];
    if (shape->rank < 0)
        return complain(EXIT_REFUSED, model->path, "the shape of %s does not follow: %s", name,
                        making->inference->shapes.why);
    out->rank = shape->rank;
    memcpy(out->dims, shape->dims, sizeof out->dims);
    if (fits_memory(out))
        return EXIT_DONE;
    return complain(EXIT_REFUSED, model->path, "%s has shape %s: nothing, or more than the memory",
                    name, tensor_shape_text(out->rank, out->dims, text));
}

/* ---------------------------------------------------------------------------------------- steps */

/* Takes away the nodes that are folded; the others are forgotten. */
static void settle_folds(struct making *making)
{
    for (size_t i = 0; i < making->convolutions.count; i++) {
        size_t *const behind = &making->convolutions.items[i].batch_norm;
        if (!making->request->folds || *behind == MODEL_NONE || !making->nodes[*behind])
            *behind = MODEL_NONE;
        else
            making->nodes[*behind] = false;
    }
}

static int check_node(const struct making *making, const struct step *step)
{
    const struct model *const model = making->inference->model;
    const struct model_node *const node = step->operation.node;
    const struct operator_entry *const op = step->op;
    if (!op || (!op->compute && strcmp(node->op, "Conv") != 0))
        return node_complain(model, node, EXIT_REFUSED, "this operator is not supported");
    if (node->input_count > op->most)
        return node_complain(model, node, EXIT_REFUSED, "it has %zu inputs", node->input_count);
    for (size_t i = 0; i < op->least; i++)
        if (model_node_input(node, i) == MODEL_NONE)
            return node_complain(model, node, EXIT_BAD, "it lacks input %zu", i);
    return EXIT_DONE;
}

/* The elements of a constant; weights and bias of a convolution are its plan's. */
static int load_constant(struct making *making, const struct step *step, size_t input)
{
    const struct model *const model = making->inference->model;
    const size_t value = step->operation.node->inputs[input];
    float **const out = &making->inference->values[value].values;
    if (model->values[value].tensor == MODEL_NONE || *out || (!step->op->compute && input > 0))
        return EXIT_DONE;
    const struct model_tensor *const tensor = &model->tensors[model->values[value].tensor];
    const int code = model_allow(model, tensor, &making->taken);
    return code ? code : model_floats(model, tensor, out);
}

static int link_inputs(struct making *making, struct step *step)
{
    struct inference *const inference = making->inference;
    const struct model_node *const node = step->operation.node;
    int code = EXIT_DONE;
    step->operation.inputs = calloc(node->input_count + 1, sizeof *step->operation.inputs);
    if (!step->operation.inputs)
        return out_of_memory(inference->model);
    for (size_t i = 0; i < node->input_count && !code; i++) {
        const size_t value = node->inputs[i];
        if (value == MODEL_NONE || !operator_takes_floats(step->op, i))
            continue;
        code = settle_shape(making, value);
        if (!code)
            code = load_constant(making, step, i);
        step->operation.inputs[i] = &inference->values[value];
        inference->readers[value]++;
    }
    return code;
}

static int by_node(const void *node, const void *convolution)
{
    const size_t index = *(const size_t *)node,
                 other = ((const struct convolution *)convolution)->node;
    return (index > other) - (index < other);
}

/* The list is in the order of the nodes. */
static const struct convolution *convolution_of(const struct making *making,
                                                const struct model_node *node)
{
    const size_t index = (size_t)(node - making->inference->model->nodes);
    return bsearch(&index, making->convolutions.items, making->convolutions.count,
                   sizeof *making->convolutions.items, by_node);
}

static int create_plan(const struct making *making, const struct convolution *convolution,
                       const float *weights, const float *bias, csrconv_plan **out)
{
    const csrconv_geometry *const g = &convolution->geometry;
    csrconv_plan_options options = *making->request->options;
    csrconv_weights *bank = NULL;
    int code = EXIT_DONE;
    options.epilogue.bias = bias;
    csrconv_status status = csrconv_weights_from_dense(weights, g->filters, g->channels / g->groups,
                                                       g->kernel_h, g->kernel_w, NULL, &bank);
    if (!status)
        status = plan_cache_create(making->request->cache, bank, g, &options, out);
    if (status)
        code = selection_complain(selection_flag(status, convolution->name), status);
    csrconv_weights_destroy(&bank);
    return code;
}

static int plan_convolution(const struct making *making, struct step *step)
{
    const struct model *const model = making->inference->model;
    const struct convolution *const convolution = convolution_of(making, step->operation.node);
    float *weights, *bias;
    if (!convolution || !convolution->has_geometry)
        return node_complain(model, step->operation.node, EXIT_REFUSED,
                             "only 2-D convolutions with constant weights are supported");
    int code = convolution_weights(model, convolution, true, &weights, &bias);
    if (code)
        return code;
    code = create_plan(making, convolution, weights, bias, &step->plan);
    free(weights);
    free(bias);
    return code;
}

static size_t value_of(const struct making *making, const struct model_node *node)
{
    const struct convolution *const c = convolution_of(making, node);
    const bool is_folded = c && c->batch_norm != MODEL_NONE;
    return (is_folded ? &making->inference->model->nodes[c->batch_norm] : node)->outputs[0];
}

static int make_step(struct making *making, const struct model_node *node)
{
    struct inference *const inference = making->inference;
    struct step *const step = &inference->steps[inference->step_count++];
    int code;
    step->op = operator_of(node);
    step->value = value_of(making, node);
    step->operation =
        (struct operation){ .model = inference->model, .node = node, .shapes = &inference->shapes };
    if ((code = check_node(making, step)) || (code = link_inputs(making, step)) ||
        (code = settle_shape(making, step->value)))
        return code;
    step->operation.output = inference->values[step->value];
    return step->op->compute ? EXIT_DONE : plan_convolution(making, step);
}

/* --------------------------------------------------------------------------------------- making */

static int make(struct making *making, const struct tensor *shape)
{
    const struct inference_request *const request = making->request;
    struct inference *const inference = making->inference;
    const struct model *const model = inference->model;
    int code;
    if ((code = target_find(model, request->target, &inference->target)) ||
        (code = target_mark(model, inference->target, making->values, making->nodes)) ||
        (code = target_input(model, making->values, request->input, shape, &inference->input)) ||
        (code = follow_shapes(making, shape)))
        return code;
    settle_folds(making);
    for (size_t i = 0; i < model->node_count && !code; i++)
        if (making->nodes[i])
            code = make_step(making, &model->nodes[i]);
    return code;
}

static bool allocate(struct making *making)
{
    const struct model *const model = making->inference->model;
    struct inference *const inference = making->inference;
    inference->values = calloc(model->value_count + 1, sizeof *inference->values);
    inference->readers = calloc(model->value_count + 1, sizeof *inference->readers);
    inference->steps = calloc(model->node_count + 1, sizeof *inference->steps);
    making->values = calloc(model->value_count + 1, sizeof *making->values);
    making->nodes = calloc(model->node_count + 1, sizeof *making->nodes);
    return inference->values && inference->readers && inference->steps && making->values &&
           making->nodes;
}

int inference_create(const struct model *model, const struct inference_request *request,
                     const struct tensor *shape, struct inference **out)
{
    struct making making = { .request = request };
    *out = NULL;
    if (!model->has_graph)
        return complain(EXIT_REFUSED, model->path, "holds weights but no graph to run");
    making.inference = calloc(1, sizeof *making.inference);
    if (!making.inference)
        return out_of_memory(model);
    making.inference->model = model;
    const int code = allocate(&making) ? make(&making, shape) : out_of_memory(model);
    free(making.values);
    free(making.nodes);
    convolution_list_free(&making.convolutions);
    *out = making.inference;
    if (code)
        inference_destroy(out);
    return code;
}

void inference_destroy(struct inference **inference)
{
    struct inference *const i = *inference;
    if (!i)
        return;
    for (size_t k = 0; k < i->step_count; k++) {
        csrconv_plan_destroy(&i->steps[k].plan);
        free(i->steps[k].operation.inputs);
    }
    for (size_t k = 0; i->values && k < i->model->value_count; k++)
        free(i->values[k].values);
    shapes_free(&i->shapes);
    free(i->values);
    free(i->readers);
    free(i->steps);
    free(i);
    *inference = NULL;
}
