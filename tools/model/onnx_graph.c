/* ONNX: GraphProto. */
#include "onnx.h"

#include "complain.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

/* How much of everything there is, to take the memory once. */
struct sizes {
    size_t tensors, nodes, uses;
};

/* The tensors that a node has among its attributes, and the one that Constant comes to. */
static size_t count_tensors(struct wire node)
{
    struct wire_field field;
    size_t count = 0;
    while (wire_next(&node, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        const struct wire part = wire_of(node.image, field.bytes);
        count += field.number == ONNX_NODE_OP && part.end - part.at == strlen("Constant") &&
                 memcmp(part.image + part.at, "Constant", strlen("Constant")) == 0;
        count += field.number == ONNX_NODE_ATTRIBUTE &&
                 wire_count(part, ONNX_ATTRIBUTE_T, WIRE_BYTES) != 0;
    }
    return count;
}

/* Counted as they could be; what is broken is found by those who read it. */
static struct sizes count_of(struct wire graph)
{
    struct sizes n = { 0 };
    struct wire_field field;
    while (wire_next(&graph, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        n.tensors += field.number == ONNX_INITIALIZER || field.number == ONNX_SPARSE_INITIALIZER;
        n.uses += field.number == ONNX_INITIALIZER || field.number == ONNX_SPARSE_INITIALIZER ||
                  field.number == ONNX_INPUT || field.number == ONNX_OUTPUT;
        if (field.number != ONNX_NODE)
            continue;
        const struct wire node = wire_of(graph.image, field.bytes);
        n.nodes++;
        n.tensors += count_tensors(node);
        n.uses += wire_count(node, ONNX_NODE_INPUT, WIRE_BYTES) +
                  wire_count(node, ONNX_NODE_OUTPUT, WIRE_BYTES);
    }
    return n;
}

static int make_room(const struct onnx_reader *reader, struct wire graph, struct name_list *names)
{
    struct model *const model = reader->model;
    struct arena *const arena = &model->arena;
    const struct sizes n = count_of(graph);
    model->tensors = arena_take(arena, n.tensors, sizeof *model->tensors);
    model->nodes = arena_take(arena, n.nodes, sizeof *model->nodes);
    model->inputs =
        arena_take(arena, wire_count(graph, ONNX_INPUT, WIRE_BYTES), sizeof *model->inputs);
    model->outputs =
        arena_take(arena, wire_count(graph, ONNX_OUTPUT, WIRE_BYTES), sizeof *model->outputs);
    names->items = malloc((n.uses + 1) * sizeof *names->items);
    if (!model->tensors || !model->nodes || !model->inputs || !model->outputs || !names->items)
        return onnx_no_memory(reader);
    return EXIT_DONE;
}

/* TypeProto.Tensor.shape; what is not there is not known. */
static void read_shape(struct wire type, struct model_shape *out)
{
    enum { TENSOR_TYPE = 1, SHAPE = 2, DIM = 1, DIM_VALUE = 1 };
    struct wire_field field;
    out->rank = -1;
    if (!wire_find(&type, TENSOR_TYPE, WIRE_BYTES, &field))
        return;
    struct wire tensor = wire_of(type.image, field.bytes);
    if (!wire_find(&tensor, SHAPE, WIRE_BYTES, &field))
        return;
    struct wire shape = wire_of(type.image, field.bytes);
    if (wire_count(shape, DIM, WIRE_BYTES) > TENSOR_MAX_RANK)
        return;
    for (out->rank = 0; wire_find(&shape, DIM, WIRE_BYTES, &field); out->rank++) {
        struct wire dim = wire_of(type.image, field.bytes);
        const bool is_told = wire_find(&dim, DIM_VALUE, WIRE_VARINT, &field);
        out->dims[out->rank] = is_told && field.value <= INT64_MAX ? (int64_t)field.value : -1;
    }
}

/* ValueInfoProto: a name, and a type that only inputs are asked for. */
static int read_value_info(const struct onnx_reader *reader, struct model_span span,
                           const char **name, struct model_shape *shape)
{
    enum { NAME = 1, TYPE = 2 };
    struct wire_field field;
    struct wire info;
    const int code = onnx_message(reader, span, "an input or output", &info);
    *name = "";
    shape->rank = -1;
    while (!code && wire_next(&info, &field)) {
        if (field.number == NAME && field.type == WIRE_BYTES &&
            !(*name = onnx_text(reader, field.bytes)))
            return EXIT_WRONG;
        if (field.number == TYPE && field.type == WIRE_BYTES)
            read_shape(wire_of(info.image, field.bytes), shape);
    }
    if (!code && !**name)
        return complain(EXIT_BAD, reader->model->path, "an input or output has no name");
    return code;
}

static int read_input(const struct onnx_reader *reader, struct model_span span,
                      struct name_list *names)
{
    struct model *const model = reader->model;
    struct model_input *const input = &model->inputs[model->input_count++];
    const char *name;
    const int code = read_value_info(reader, span, &name, &input->shape);
    if (!code)
        name_list_add(names, name, &input->value);
    return code;
}

static int read_output(const struct onnx_reader *reader, struct model_span span,
                       struct name_list *names)
{
    struct model *const model = reader->model;
    struct model_shape shape;
    const char *name;
    const int code = read_value_info(reader, span, &name, &shape);
    if (!code)
        name_list_add(names, name, &model->outputs[model->output_count++]);
    return code;
}

/* The slots of the initializers' values, by tensor. */
static int read_initializer(struct onnx_reader *reader, const struct wire_field *field,
                            struct name_list *names, size_t *slots)
{
    struct model *const model = reader->model;
    const size_t index = model->tensor_count++;
    struct model_tensor *const tensor = &model->tensors[index];
    const int code = field->number == ONNX_INITIALIZER
                         ? onnx_read_tensor(reader, field->bytes, tensor)
                         : onnx_read_sparse(reader, field->bytes, tensor);
    if (!code && !*tensor->name)
        return complain(EXIT_BAD, model->path, "an initializer has no name");
    if (!code)
        name_list_add(names, tensor->name, &slots[index]);
    return code;
}

/* A node, unless it is a constant: then its output's slot is that of the tensor. */
static int read_node(struct onnx_reader *reader, struct model_span span, struct name_list *names,
                     size_t *slots)
{
    struct model *const model = reader->model;
    struct model_node *const node = &model->nodes[model->node_count];
    const size_t uses = names->count;
    size_t tensor;
    bool has = false;
    int code = onnx_read_node(reader, span, names, node);
    if (!code && strcmp(node->op, "Constant") == 0 && !*node->domain && names->count == uses + 1 &&
        node->output_count == 1)
        code = onnx_constant(reader, node, &has, &tensor);
    if (code)
        return code;
    if (has) {
        names->items[uses].slot = &slots[tensor];
        model->tensors[tensor].name = names->items[uses].name;
        *node = (struct model_node){ 0 };
    } else {
        model->node_count++;
    }
    return EXIT_DONE;
}

static int read_graph(struct onnx_reader *reader, struct wire graph, struct name_list *names,
                      size_t *slots)
{
    struct wire_field field;
    int code = EXIT_DONE;
    while (!code && wire_next(&graph, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ONNX_NODE)
            code = read_node(reader, field.bytes, names, slots);
        else if (field.number == ONNX_INITIALIZER || field.number == ONNX_SPARSE_INITIALIZER)
            code = read_initializer(reader, &field, names, slots);
        else if (field.number == ONNX_INPUT)
            code = read_input(reader, field.bytes, names);
        else if (field.number == ONNX_OUTPUT)
            code = read_output(reader, field.bytes, names);
    }
    return code;
}

/* Tells the values their tensors; the inputs that have one are defaults, as before IR version 4. */
static int settle_constants(struct model *model, const size_t *slots)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        if (slots[i] == MODEL_NONE)
            continue;
        struct model_value *const value = &model->values[slots[i]];
        if (value->tensor != MODEL_NONE)
            return complain(EXIT_BAD, model->path, "two tensors have the name %s", value->name);
        value->tensor = i;
    }
    size_t kept = 0;
    for (size_t i = 0; i < model->input_count; i++)
        if (model->values[model->inputs[i].value].tensor == MODEL_NONE)
            model->inputs[kept++] = model->inputs[i];
    model->input_count = kept;
    return EXIT_DONE;
}

static int read_all(struct onnx_reader *reader, struct wire graph, struct name_list *names)
{
    struct model *const model = reader->model;
    const size_t tensors = count_of(graph).tensors;
    size_t *const slots = arena_take(&model->arena, tensors, sizeof *slots);
    if (!slots)
        return onnx_no_memory(reader);
    for (size_t i = 0; i < tensors; i++)
        slots[i] = MODEL_NONE; /* those of attributes are no values */
    int code = read_graph(reader, graph, names, slots);
    if (!code)
        code = names_resolve(model, names);
    if (!code)
        code = settle_constants(model, slots);
    return code ? code : graph_order(model);
}

int onnx_read_graph(struct onnx_reader *reader, struct wire graph)
{
    struct name_list names = { 0 };
    int code = make_room(reader, graph, &names);
    if (!code)
        code = read_all(reader, graph, &names);
    free(names.items);
    return code;
}
