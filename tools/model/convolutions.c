#include "convolutions.h"

#include "complain.h"
#include "node.h"
#include "shapes.h"
#include "window.h"

#include <stdlib.h>
#include <string.h>

static bool is_kernel(const struct model_tensor *tensor)
{
    return tensor && tensor->rank == 4 && tensor->count > 0 && model_is_float(tensor);
}

static size_t index_of(const struct model *model, const struct model_tensor *tensor)
{
    return tensor ? (size_t)(tensor - model->tensors) : MODEL_NONE;
}

static struct convolution start(const struct model *model, size_t weights, int64_t groups)
{
    const struct model_tensor *const t = &model->tensors[weights];
    struct convolution c = { .name = t->name,
                             .node = MODEL_NONE,
                             .weights = weights,
                             .bias = MODEL_NONE,
                             .batch_norm = MODEL_NONE };
    csrconv_geometry_init(&c.geometry);
    c.geometry.filters = t->dims[0];
    c.geometry.kernel_h = t->dims[2];
    c.geometry.kernel_w = t->dims[3];
    c.geometry.groups = groups;
    /* A file may have any size of an empty tensor, but this one is not empty: it fits. */
    if (__builtin_mul_overflow(t->dims[1], groups, &c.geometry.channels))
        c.geometry.channels = 0;
    return c;
}

static void set_geometry(const struct model_shape *in, const struct window *w,
                         struct convolution *c)
{
    csrconv_geometry *const g = &c->geometry;
    g->batch = in->dims[0];
    g->height = in->dims[2];
    g->width = in->dims[3];
    g->stride_h = w->stride[0];
    g->stride_w = w->stride[1];
    g->dilation_h = w->dilation[0];
    g->dilation_w = w->dilation[1];
    g->pad_top = w->before[0];
    g->pad_left = w->before[1];
    g->pad_bottom = w->after[0];
    g->pad_right = w->after[1];
}

/* The geometry, if the input's shape is known. */
static int find_geometry(const struct model *model, const struct shapes *shapes,
                         struct convolution *c)
{
    const struct model_node *const node = &model->nodes[c->node];
    const struct model_shape *const in = &shapes->of[node->inputs[0]];
    struct window window;
    if (in->rank != 4)
        return EXIT_DONE;
    const int64_t *const kernel = model->tensors[c->weights].dims + 2;
    const int code = window_read(model, node, kernel, in->dims + 2, &window);
    if (code)
        return code;
    set_geometry(in, &window, c);
    if (c->geometry.channels != in->dims[1] ||
        csrconv_output_size(&c->geometry, &c->out_h, &c->out_w))
        return complain(EXIT_BAD, model->path, "convolution %s: %s", c->name,
                        c->geometry.channels != in->dims[1]
                            ? "its weights are for another number of channels"
                            : csrconv_last_error());
    c->has_geometry = true;
    return EXIT_DONE;
}

/* In the form of inference, by channels. */
static bool is_batch_norm(const struct model_node *node)
{
    return strcmp(node->op, "BatchNormalization") == 0 && !*node->domain &&
           !model_attribute_int(node, "training_mode", 0) &&
           model_attribute_int(node, "spatial", 1);
}

static bool has_constants(const struct model *model, const struct model_node *node, int64_t count)
{
    for (size_t i = 1; i <= 4; i++) {
        const struct model_tensor *const t = model_constant_input(model, node, i);
        if (!t || !model_is_float(t) || t->count != count)
            return false;
    }
    return true;
}

/* How many nodes read each value, the caller as one, and one of the nodes. */
struct readers {
    size_t *count, *last;
};

static bool readers_make(const struct model *model, struct readers *readers)
{
    readers->count = calloc(model->value_count + 1, sizeof *readers->count);
    readers->last = calloc(model->value_count + 1, sizeof *readers->last);
    if (!readers->count || !readers->last)
        return false;
    for (size_t i = 0; i < model->node_count; i++)
        for (size_t k = 0; k < model->nodes[i].input_count; k++) {
            const size_t value = model->nodes[i].inputs[k];
            if (value == MODEL_NONE)
                continue;
            readers->count[value]++;
            readers->last[value] = i;
        }
    for (size_t i = 0; i < model->output_count; i++)
        readers->count[model->outputs[i]]++;
    return true;
}

static void readers_free(struct readers *readers)
{
    free(readers->count);
    free(readers->last);
}

static size_t find_batch_norm(const struct model *model, const struct readers *readers,
                              const struct convolution *c)
{
    const struct model_node *const node = &model->nodes[c->node];
    const size_t value = node->output_count ? node->outputs[0] : MODEL_NONE;
    if (value == MODEL_NONE || readers->count[value] != 1)
        return MODEL_NONE;
    const struct model_node *const next = &model->nodes[readers->last[value]];
    const bool is_one = is_batch_norm(next) && model_node_input(next, 0) == value &&
                        has_constants(model, next, c->geometry.filters);
    return is_one ? readers->last[value] : MODEL_NONE;
}

/* A bias that is computed cannot be folded or taken along. */
static bool has_usable_bias(const struct model *model, const struct model_node *node,
                            const struct model_tensor *weights)
{
    const struct model_tensor *const bias = model_constant_input(model, node, 2);
    return model_node_input(node, 2) == MODEL_NONE ||
           (bias && model_is_float(bias) && bias->count == weights->dims[0]);
}

static int add_node(const struct model *model, const struct shapes *shapes,
                    const struct readers *readers, size_t index, int64_t *taken,
                    struct convolution_list *list)
{
    const struct model_node *const node = &model->nodes[index];
    const struct model_tensor *const weights = model_constant_input(model, node, 1);
    const int64_t groups = model_attribute_int(node, "group", 1);
    if (!is_kernel(weights) || model_node_input(node, 0) == MODEL_NONE ||
        !has_usable_bias(model, node, weights)) {
        list->left_out++;
        return EXIT_DONE;
    }
    if (groups < 1 || weights->dims[0] % groups != 0)
        return node_complain(model, node, EXIT_BAD, "its group is none");
    const int code = model_allow(model, weights, taken);
    if (code)
        return code;
    struct convolution *const c = &list->items[list->count++];
    *c = start(model, index_of(model, weights), groups);
    c->node = index;
    c->name = *node->name ? node->name : weights->name;
    c->bias = index_of(model, model_constant_input(model, node, 2));
    c->batch_norm = find_batch_norm(model, readers, c);
    return find_geometry(model, shapes, c);
}

static int add_nodes(const struct model *model, const struct shapes *shapes,
                     struct convolution_list *list)
{
    struct readers readers = { 0 };
    int64_t taken = 0;
    int code = readers_make(model, &readers) ? EXIT_DONE
                                             : complain(EXIT_WRONG, model->path, "out of memory");
    for (size_t i = 0; i < model->node_count && !code; i++)
        if (strcmp(model->nodes[i].op, "Conv") == 0 && !*model->nodes[i].domain)
            code = add_node(model, shapes, &readers, i, &taken, list);
    memcpy(list->why, shapes->why, sizeof list->why);
    readers_free(&readers);
    return code;
}

static int add_tensors(const struct model *model, const char *input_shape,
                       struct convolution_list *list)
{
    if (input_shape)
        return complain(EXIT_BAD, "--input-shape",
                        "%s holds tensors without a graph, so nothing follows from it",
                        model->path);
    for (size_t i = 0; i < model->tensor_count; i++)
        if (is_kernel(&model->tensors[i]))
            list->items[list->count++] = start(model, i, 1);
    snprintf(list->why, sizeof list->why,
             "a %s file has no graph that would tell it; an ONNX file has", model->format->name);
    return EXIT_DONE;
}

static int make_list(const struct model *model, struct convolution_list *out)
{
    const size_t most = model->has_graph ? model->node_count : model->tensor_count;
    *out = (struct convolution_list){ .items = calloc(most + 1, sizeof *out->items) };
    return out->items ? EXIT_DONE : complain(EXIT_WRONG, model->path, "out of memory");
}

int convolutions_of_shapes(const struct model *model, const struct shapes *shapes,
                           struct convolution_list *out)
{
    int code = make_list(model, out);
    if (!code)
        code = add_nodes(model, shapes, out);
    if (code)
        convolution_list_free(out);
    return code;
}

static int convolutions_of_tensors(const struct model *model, const char *input_shape,
                                   struct convolution_list *out)
{
    int code = make_list(model, out);
    if (!code)
        code = add_tensors(model, input_shape, out);
    if (code)
        convolution_list_free(out);
    return code;
}

int convolutions_of(const struct model *model, const char *input_shape,
                    struct convolution_list *out)
{
    struct shapes shapes;
    *out = (struct convolution_list){ 0 };
    if (!model->has_graph)
        return convolutions_of_tensors(model, input_shape, out);
    int code = shapes_make(model, input_shape, &shapes);
    if (!code)
        code = convolutions_of_shapes(model, &shapes, out);
    shapes_free(&shapes);
    return code;
}

void convolution_list_free(struct convolution_list *list)
{
    free(list->items);
    *list = (struct convolution_list){ 0 };
}

bool convolution_has_name(const struct model *model, const struct convolution *convolution,
                          const char *name)
{
    return strcmp(name, convolution->name) == 0 ||
           strcmp(name, model->tensors[convolution->weights].name) == 0;
}
