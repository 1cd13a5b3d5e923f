#include "shapes.h"

#include "complain.h"
#include "node.h"
#include "number.h"
#include "operator.h"
#include "report/text.h"
#include "shape_values.h"

#include <stdlib.h>
#include <string.h>

/* Sizes of an input as they were given: "1,3,224,224". */
static int parse_sizes(const char *text, struct model_shape *out)
{
    struct whole_list sizes = { 0 };
    int code = number_wholes("--input-shape", text, 1, INT32_MAX, &sizes);
    if (!code && sizes.count > TENSOR_MAX_RANK)
        code =
            complain(EXIT_BAD, "--input-shape", "%s has more than %d sizes", text, TENSOR_MAX_RANK);
    if (!code) {
        out->rank = (int)sizes.count;
        memcpy(out->dims, sizes.items, sizes.count * sizeof *sizes.items);
    }
    whole_list_free(&sizes);
    return code;
}

/* The input that one part of --input-shape is for; a name may hold colons itself. */
static int find_input(const struct model *model, const char *part, const char *colon,
                      const struct model_input **out)
{
    if (!colon && model->input_count == 1) {
        *out = &model->inputs[0];
        return EXIT_DONE;
    }
    for (size_t i = 0; colon && i < model->input_count; i++) {
        const char *const name = model->values[model->inputs[i].value].name;
        if (strlen(name) == (size_t)(colon - part) && strncmp(name, part, strlen(name)) == 0) {
            *out = &model->inputs[i];
            return EXIT_DONE;
        }
    }
    return complain(EXIT_BAD, "--input-shape",
                    colon ? "%s has no input %s" : "%s has not one input: give NAME:N,C,H,W (%s)",
                    model->path, part);
}

static int take_given(const struct model *model, char *part, struct shapes *out)
{
    const struct model_input *input = NULL;
    char *const colon = strrchr(part, ':');
    const int code = find_input(model, part, colon, &input);
    return code ? code : parse_sizes(colon ? colon + 1 : part, &out->of[input->value]);
}

static int take_all_given(const struct model *model, const char *given, struct shapes *out)
{
    char *const copy = strdup(given);
    int code = copy ? EXIT_DONE : complain(EXIT_WRONG, model->path, "out of memory");
    for (char *part = copy, *next; part && !code; part = next) {
        next = strchr(part, ';');
        if (next)
            *next++ = '\0';
        code = take_given(model, part, out);
    }
    free(copy);
    return code;
}

static void explain(struct shapes *shapes, const char *format, const char *name)
{
    if (shapes->why[0])
        return;
    snprintf(shapes->why, sizeof shapes->why, format, name);
    text_clean(shapes->why);
}

/* Unknown but for the batch. */
static bool is_declared(const struct model_shape *shape)
{
    for (int i = 1; i < shape->rank; i++)
        if (shape->dims[i] < 0)
            return false;
    return shape->rank >= 0;
}

static void take_declared(const struct model *model, struct shapes *out)
{
    for (size_t i = 0; i < model->input_count; i++) {
        const struct model_input *const input = &model->inputs[i];
        struct model_shape *const shape = &out->of[input->value];
        if (!is_declared(&input->shape))
            continue;
        *shape = input->shape;
        if (shape->rank && shape->dims[0] < 1)
            shape->dims[0] = 1;
    }
}

static void take_constants(const struct model *model, struct shapes *out)
{
    for (size_t i = 0; i < model->value_count; i++) {
        out->of[i].rank = -1;
        if (model->values[i].tensor == MODEL_NONE)
            continue;
        const struct model_tensor *const tensor = &model->tensors[model->values[i].tensor];
        out->of[i].rank = tensor->rank;
        memcpy(out->of[i].dims, tensor->dims, sizeof tensor->dims);
    }
}

static bool inputs_are_known(const struct shape_step *step)
{
    for (size_t i = 0; i < step->node->input_count; i++)
        if (step->node->inputs[i] != MODEL_NONE && step->shapes->of[step->node->inputs[i]].rank < 0)
            return false;
    return true;
}

/* Whether the sizes have a product; one that had none itself is -1. */
static bool is_sound(const struct model_shape *shape)
{
    int64_t product;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 0)
            return false;
    return shape->rank < 0 || tensor_product(shape->rank, shape->dims, &product);
}

/* Of a node with several outputs only the first is followed. */
static int follow(const struct model *model, const struct model_node *node, struct shapes *shapes)
{
    struct shape_step step = { model, node, shapes, { .rank = -1 } };
    const struct operator_entry *const op = operator_of(node);
    if (shape_values_follow(model, node, shapes))
        return EXIT_DONE;
    if (!op)
        explain(shapes, "the operator %s is not followed", node->op);
    if (!op || !inputs_are_known(&step) || !node->output_count || node->outputs[0] == MODEL_NONE)
        return EXIT_DONE;
    const int code = op->shape(&step);
    if (!code && step.out.rank < 0)
        explain(shapes, "what the operator %s makes is not followed here", node->op);
    if (!code && !is_sound(&step.out))
        return node_complain(model, node, EXIT_BAD, "its output is too large");
    shapes->of[node->outputs[0]] = step.out;
    return code;
}

/* What is known before any node. */
static int begin(const struct model *model, struct shapes *out)
{
    *out = (struct shapes){ .of = calloc(model->value_count + 1, sizeof *out->of),
                            .ints = calloc(model->value_count + 1, sizeof *out->ints) };
    if (!out->of || !out->ints)
        return complain(EXIT_WRONG, model->path, "out of memory");
    take_constants(model, out);
    take_declared(model, out);
    return EXIT_DONE;
}

static int follow_all(const struct model *model, struct shapes *out)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < model->input_count; i++)
        if (out->of[model->inputs[i].value].rank < 0)
            explain(out, "the size of the input %s is not declared: give it with --input-shape",
                    model->values[model->inputs[i].value].name);
    for (size_t i = 0; i < model->node_count && !code; i++)
        code = follow(model, &model->nodes[i], out);
    return code;
}

int shapes_make(const struct model *model, const char *given, struct shapes *out)
{
    int code = begin(model, out);
    if (!code && given)
        code = take_all_given(model, given, out);
    if (!code)
        code = follow_all(model, out);
    if (code)
        shapes_free(out);
    return code;
}

int shapes_make_of(const struct model *model, size_t input, const struct model_shape *shape,
                   struct shapes *out)
{
    int code = begin(model, out);
    if (!code) {
        out->of[input] = *shape;
        code = follow_all(model, out);
    }
    if (code)
        shapes_free(out);
    return code;
}

void shapes_free(struct shapes *shapes)
{
    free(shapes->of);
    free(shapes->ints);
    shapes->of = NULL;
    shapes->ints = NULL;
}
