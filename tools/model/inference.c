#include "inference_parts.h"

#include "clock.h"
#include "complain.h"
#include "runner/host_execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct tensor made;
    int code = tensor_make_dense(inference->model->path, out->rank, out->dims, &made);
    if (code)
        return code;
    out->values = made.values;
    inference->values[step->value].values = out->values;
    code = step->plan ? convolve(inference, step) : step->op->compute(&step->operation);
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
        return complain(EXIT_WRONG, inference->model->path, "out of memory for its graph");
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

/* ------------------------------------------------------------------------------ what it came to */

/* Adds a name to a list "a, b" that has it not yet. */
static void add_name(char list[160], const char *name)
{
    const size_t length = strlen(name), used = strlen(list);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return;
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
