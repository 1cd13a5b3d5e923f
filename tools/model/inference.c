#include "inference.h"

#include "complain.h"
#include "conv_plan.h"
#include "operator.h"
#include "runner/clock.h"
#include "runner/host_execute.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One node that runs. */
struct step {
    const struct operator *operator;
    struct operation operation;
    csrconv_plan *plan; /* of a Conv */
};

struct inference {
    const struct model *model;
    struct tensor *values;   /* by the values of the model; their shapes stay, their elements go */
    size_t *readers;         /* how many steps read each */
    struct step *steps;
    size_t step_count, target, input;
    double us, convolution_us; /* of the last run */
};

static int out_of_memory(const struct inference *inference)
{
    return complain(EXIT_WRONG, inference->model->path, "out of memory for its graph");
}

/* ----------------------------------------------------------------------------------- to make it */

/* A constant: its shape, and its elements unless a plan takes them. */
static int load_constant(struct inference *inference, const struct step *step, size_t value)
{
    const struct model *const model = inference->model;
    const struct model_tensor *const t = &model->tensors[model->values[value].tensor];
    struct tensor *const out = &inference->values[value];
    out->rank = t->rank;
    memcpy(out->dims, t->dims, sizeof out->dims);
    if (tensor_count(out) < 1)
        return operation_complain(&step->operation, EXIT_REFUSED, "its input %s has no element",
                                  t->name);
    if (out->values || !step->operator || !step->operator->compute)
        return EXIT_DONE;
    return model_floats(model, t, &out->values);
}

static int link_inputs(struct inference *inference, struct step *step)
{
    const struct model_node *const node = step->operation.node;
    step->operator = operator_of(node);
    step->operation.inputs = calloc(node->input_count + 1, sizeof *step->operation.inputs);
    if (!step->operation.inputs)
        return out_of_memory(inference);
    for (size_t i = 0; i < node->input_count; i++) {
        const size_t value = node->inputs[i];
        if (value == MODEL_NONE || (step->operator && !operator_takes_floats(step->operator, i)))
            continue;
        if (inference->model->values[value].tensor != MODEL_NONE) {
            const int code = load_constant(inference, step, value);
            if (code)
                return code;
        }
        step->operation.inputs[i] = &inference->values[value];
        inference->readers[value]++;
    }
    return EXIT_DONE;
}

static int make_step(struct inference *inference, const struct model_node *node,
                     const csrconv_plan_options *options)
{
    struct step *const step = &inference->steps[inference->step_count++];
    step->operation = (struct operation){ .model = inference->model, .node = node };
    int code = link_inputs(inference, step);
    if (!code)
        code = operation_shape(&step->operation);
    if (code)
        return code;
    struct tensor *const output = &inference->values[node->outputs[0]];
    output->rank = step->operation.output.rank;
    memcpy(output->dims, step->operation.output.dims, sizeof output->dims);
    return step->operator->compute ? EXIT_DONE
                                   : conv_plan_create(&step->operation, options, &step->plan);
}

static int make_steps(struct inference *inference, const bool *nodes,
                      const csrconv_plan_options *options)
{
    int code = EXIT_DONE;
    for (size_t i = 0; !code && i < inference->model->node_count; i++)
        if (nodes[i])
            code = make_step(inference, &inference->model->nodes[i], options);
    return code;
}

static int fill(struct inference *inference, const char *target, const char *input,
                const struct tensor *shape, const csrconv_plan_options *options, bool *values,
                bool *nodes)
{
    const struct model *const model = inference->model;
    int code;
    if ((code = target_find(model, target, &inference->target)) ||
        (code = target_mark(model, inference->target, values, nodes)) ||
        (code = target_input(model, values, input, shape, &inference->input)))
        return code;
    inference->values[inference->input].rank = shape->rank;
    memcpy(inference->values[inference->input].dims, shape->dims, sizeof shape->dims);
    return make_steps(inference, nodes, options);
}

int inference_create(const struct model *model, const char *target, const char *input,
                     const struct tensor *shape, const csrconv_plan_options *options,
                     struct inference **out)
{
    bool *const values = calloc(model->value_count + 1, sizeof *values);
    bool *const nodes = calloc(model->node_count + 1, sizeof *nodes);
    struct inference *inference = calloc(1, sizeof *inference);
    int code = EXIT_DONE;
    if (!model->has_graph)
        code = complain(EXIT_REFUSED, model->path, "holds weights but no graph to run");
    if (inference) {
        inference->model = model;
        inference->values = calloc(model->value_count + 1, sizeof *inference->values);
        inference->readers = calloc(model->value_count + 1, sizeof *inference->readers);
        inference->steps = calloc(model->node_count + 1, sizeof *inference->steps);
    }
    if (!code && (!values || !nodes || !inference || !inference->values || !inference->readers ||
                  !inference->steps))
        code = complain(EXIT_WRONG, model->path, "out of memory for its graph");
    if (!code)
        code = fill(inference, target, input, shape, options, values, nodes);
    free(values);
    free(nodes);
    if (code)
        inference_destroy(&inference);
    *out = inference;
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
    free(i->values);
    free(i->readers);
    free(i->steps);
    free(i);
    *inference = NULL;
}

/* ------------------------------------------------------------------------------------ to run it */

static int convolve(struct inference *inference, struct step *step)
{
    const struct tensor *const x = step->operation.inputs[0];
    const double start = clock_us();
    const int code = host_execute(step->plan, x->dims[0], x, NULL, &step->operation.output);
    inference->convolution_us += clock_us() - start;
    return code;
}

/* Activations go with their last reader; constants stay, and the input is the caller's. */
static void release_inputs(struct inference *inference, const struct step *step, size_t *left)
{
    for (size_t i = 0; i < step->operation.node->input_count; i++) {
        const size_t value = step->operation.node->inputs[i];
        if (value == MODEL_NONE || !step->operation.inputs[i] || --left[value] > 0 ||
            inference->model->values[value].node == MODEL_NONE)
            continue;
        free(inference->values[value].values);
        inference->values[value].values = NULL;
    }
}

static int run_step(struct inference *inference, struct step *step, size_t *left)
{
    struct tensor *const out = &step->operation.output;
    int code = tensor_make_dense(inference->model->path, out->rank, out->dims, out);
    if (code)
        return code;
    inference->values[step->operation.node->outputs[0]].values = out->values;
    code = step->plan ? convolve(inference, step) : step->operator->compute(&step->operation);
    if (!code)
        release_inputs(inference, step, left);
    return code;
}

static int run_steps(struct inference *inference)
{
    const size_t bytes = inference->model->value_count * sizeof *inference->readers;
    size_t *const left = malloc(bytes + 1);
    const double start = clock_us();
    int code = EXIT_DONE;
    if (!left)
        return out_of_memory(inference);
    memcpy(left, inference->readers, bytes);
    inference->convolution_us = 0.0;
    for (size_t i = 0; !code && i < inference->step_count; i++)
        code = run_step(inference, &inference->steps[i], left);
    inference->us = clock_us() - start;
    free(left);
    return code;
}

int inference_run(struct inference *inference, const struct tensor *input, struct tensor *output)
{
    struct tensor *const target = &inference->values[inference->target];
    inference->values[inference->input].values = input->values;
    const int code = run_steps(inference);
    inference->values[inference->input].values = NULL;
    *output = *target;
    target->values = NULL;
    return code;
}

/* --------------------------------------------------------------------------------- what it came to */

static void add_name(char list[160], const char *name)
{
    const size_t used = strlen(list);
    if (!strstr(list, name))
        snprintf(list + used, 160 - used, "%s%s", used ? ", " : "", name);
}

static void add_plan(const csrconv_plan *plan, struct inference_info *info)
{
    csrconv_algorithm_info algorithm = { .struct_size = sizeof algorithm };
    csrconv_plan_info one = { .struct_size = sizeof one };
    csrconv_plan_describe(plan, &one);
    csrconv_algorithm_describe(one.algorithm, &algorithm);
    add_name(info->algorithms, algorithm.name);
    info->device = one.device;
    info->ordinal = one.ordinal;
    info->convolutions++;
    info->nonzeros += one.nonzeros;
}

void inference_describe(const struct inference *inference, struct inference_info *info)
{
    *info = (struct inference_info){ .nodes = inference->step_count,
                                     .us = inference->us,
                                     .convolution_us = inference->convolution_us };
    for (size_t i = 0; i < inference->step_count; i++)
        if (inference->steps[i].plan) {
            info->weights += tensor_count(inference->steps[i].operation.inputs[1]);
            add_plan(inference->steps[i].plan, info);
        }
}
