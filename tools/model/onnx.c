/* ONNX: ModelProto. */
#include "onnx.h"

#include "complain.h"

#include <string.h>

/* Whoever writes ONNX writes the fields by number, so a file begins with ir_version and a digit. */
static bool probe(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == (ONNX_IR_VERSION << 3 | WIRE_VARINT) && data[1] >= 1 &&
           data[1] < 32;
}

int onnx_message(const struct onnx_reader *reader, struct model_span span, const char *what,
                 struct wire *out)
{
    *out = wire_of(reader->model->image, span);
    if (wire_is_sound(*out))
        return EXIT_DONE;
    return complain(EXIT_BAD, reader->model->path,
                    "is truncated or damaged: %s at byte %zu is no protocol buffer", what,
                    span.begin);
}

int onnx_no_memory(const struct onnx_reader *reader)
{
    return complain(EXIT_WRONG, reader->model->path, "out of memory");
}

const char *onnx_text(const struct onnx_reader *reader, struct model_span span)
{
    const char *const text =
        arena_text(&reader->model->arena, reader->model->image + span.begin, span.end - span.begin);
    if (!text)
        onnx_no_memory(reader);
    return text;
}

static int read_opset(const struct onnx_reader *reader, struct model_span span)
{
    struct wire_field field;
    struct wire message;
    const char *domain = "";
    int64_t version = 0;
    const int code = onnx_message(reader, span, "an opset", &message);
    if (code)
        return code;
    while (wire_next(&message, &field)) {
        if (field.number == ONNX_OPSET_VERSION && field.type == WIRE_VARINT)
            version = (int64_t)field.value;
        if (field.number == ONNX_OPSET_DOMAIN && field.type == WIRE_BYTES &&
            !(domain = onnx_text(reader, field.bytes)))
            return EXIT_WRONG;
    }
    if (!*domain || strcmp(domain, "ai.onnx") == 0)
        reader->model->opset = version;
    return EXIT_DONE;
}

/* The graph's place, and what is told of the model. */
static int read_top(const struct onnx_reader *reader, struct model_span *graph)
{
    struct model *const model = reader->model;
    struct wire_field field;
    struct wire top;
    int code = onnx_message(reader, (struct model_span){ 0, model->size }, "the model", &top);
    bool has_graph = false;
    model->producer = "";
    while (!code && wire_next(&top, &field)) {
        if (field.number == ONNX_IR_VERSION && field.type == WIRE_VARINT)
            model->ir_version = (int64_t)field.value;
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ONNX_PRODUCER && !(model->producer = onnx_text(reader, field.bytes)))
            code = EXIT_WRONG;
        if (field.number == ONNX_OPSET)
            code = read_opset(reader, field.bytes);
        if (field.number == ONNX_GRAPH && has_graph)
            code = complain(EXIT_BAD, model->path, "has two graphs");
        if (field.number == ONNX_GRAPH) {
            *graph = field.bytes;
            has_graph = true;
        }
    }
    if (!code && !has_graph)
        code = complain(EXIT_BAD, model->path, "has no graph");
    return code;
}

/* Most writers put it last, so that the file may end before it and be well-formed all the same. */
static int check_opset(const struct model *model)
{
    const struct wire top = wire_of(model->image, (struct model_span){ 0, model->size });
    if (model->ir_version < 3 || wire_count(top, ONNX_OPSET, WIRE_BYTES))
        return EXIT_DONE;
    return complain(EXIT_BAD, model->path, "is truncated or damaged: it names no operator set");
}

static int read_model(struct model *model)
{
    struct onnx_reader reader = { .model = model };
    struct model_span span = { 0 };
    struct wire graph;
    int code = read_top(&reader, &span);
    if (!code)
        code = check_opset(model);
    if (!code)
        code = onnx_message(&reader, span, "the graph", &graph);
    model->has_graph = true;
    return code ? code : onnx_read_graph(&reader, graph);
}

const struct model_format model_format_onnx = {
    .name = "onnx",
    .extension = ".onnx",
    .probe = probe,
    .read = read_model,
    .write = onnx_write,
};
