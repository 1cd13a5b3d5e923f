/* NodeProto and AttributeProto. */
#include "onnx.h"

#include "complain.h"
#include "format/bytes.h"
#include "names.h"

#include <string.h>

/* AttributeProto's own numbers of the kinds. */
enum {
    TYPE_FLOAT = 1,
    TYPE_INT = 2,
    TYPE_STRING = 3,
    TYPE_TENSOR = 4,
    TYPE_FLOATS = 6,
    TYPE_INTS = 7
};

struct raw_attribute {
    struct wire message;
    uint64_t type, i;
    float f;
    struct model_span s, t;
};

/* Models of before the type was a field have what the present field says. */
static void guess_type(const struct wire_field *field, struct raw_attribute *raw)
{
    static const uint8_t types[] = {
        [ONNX_ATTRIBUTE_F] = TYPE_FLOAT,       [ONNX_ATTRIBUTE_I] = TYPE_INT,
        [ONNX_ATTRIBUTE_S] = TYPE_STRING,      [ONNX_ATTRIBUTE_T] = TYPE_TENSOR,
        [ONNX_ATTRIBUTE_FLOATS] = TYPE_FLOATS, [ONNX_ATTRIBUTE_INTS] = TYPE_INTS
    };
    if (field->number < sizeof types && types[field->number])
        raw->type = types[field->number];
}

static int read_fields(const struct onnx_reader *reader, struct raw_attribute *raw,
                       struct model_attribute *out)
{
    struct wire_field field;
    uint64_t told = 0;
    for (struct wire rest = raw->message; wire_next(&rest, &field);) {
        guess_type(&field, raw);
        if (field.number == ONNX_ATTRIBUTE_NAME && field.type == WIRE_BYTES) {
            if (!(out->name = onnx_text(reader, field.bytes)))
                return EXIT_WRONG;
        } else if (field.number == ONNX_ATTRIBUTE_F && field.type == WIRE_FIXED32) {
            raw->f = float_of_bits((uint32_t)field.value);
        } else if (field.number == ONNX_ATTRIBUTE_I && field.type == WIRE_VARINT) {
            raw->i = field.value;
        } else if (field.number == ONNX_ATTRIBUTE_S && field.type == WIRE_BYTES) {
            raw->s = field.bytes;
        } else if (field.number == ONNX_ATTRIBUTE_T && field.type == WIRE_BYTES) {
            raw->t = field.bytes;
        } else if (field.number == ONNX_ATTRIBUTE_TYPE && field.type == WIRE_VARINT) {
            told = field.value;
        }
    }
    raw->type = told ? told : raw->type;
    return EXIT_DONE;
}

static int read_ints(const struct onnx_reader *reader, const struct raw_attribute *raw,
                     struct model_attribute *out)
{
    struct wire_numbers numbers = wire_numbers_of(raw->message, ONNX_ATTRIBUTE_INTS, WIRE_VARINT);
    out->count = wire_count_numbers(numbers);
    int64_t *const ints = arena_take(&reader->model->arena, out->count, sizeof *ints);
    uint64_t value;
    if (!ints)
        return onnx_no_memory(reader);
    for (size_t i = 0; wire_next_number(&numbers, &value); i++)
        ints[i] = (int64_t)value;
    out->kind = MODEL_ATTRIBUTE_INTS;
    out->ints = ints;
    return EXIT_DONE;
}

static int read_floats(const struct onnx_reader *reader, const struct raw_attribute *raw,
                       struct model_attribute *out)
{
    struct wire_numbers numbers =
        wire_numbers_of(raw->message, ONNX_ATTRIBUTE_FLOATS, WIRE_FIXED32);
    out->count = wire_count_numbers(numbers);
    float *const floats = arena_take(&reader->model->arena, out->count, sizeof *floats);
    uint64_t value;
    if (!floats)
        return onnx_no_memory(reader);
    for (size_t i = 0; wire_next_number(&numbers, &value); i++)
        floats[i] = float_of_bits((uint32_t)value);
    out->kind = MODEL_ATTRIBUTE_FLOATS;
    out->floats = floats;
    return EXIT_DONE;
}

static int read_value(struct onnx_reader *reader, const struct raw_attribute *raw,
                      struct model_attribute *out)
{
    struct model *const model = reader->model;
    switch (raw->type) {
    case TYPE_FLOAT:
        out->kind = MODEL_ATTRIBUTE_FLOAT;
        out->f = raw->f;
        return EXIT_DONE;
    case TYPE_INT:
        out->kind = MODEL_ATTRIBUTE_INT;
        out->i = (int64_t)raw->i;
        return EXIT_DONE;
    case TYPE_STRING:
        out->kind = MODEL_ATTRIBUTE_STRING;
        out->s = onnx_text(reader, raw->s);
        return out->s ? EXIT_DONE : EXIT_WRONG;
    case TYPE_TENSOR:
        if (!raw->t.begin)
            return complain(EXIT_BAD, model->path, "attribute %s lacks its tensor", out->name);
        out->kind = MODEL_ATTRIBUTE_TENSOR;
        out->tensor = model->tensor_count++;
        return onnx_read_tensor(reader, raw->t, &model->tensors[out->tensor]);
    case TYPE_FLOATS:
        return read_floats(reader, raw, out);
    case TYPE_INTS:
        return read_ints(reader, raw, out);
    default:
        return EXIT_DONE;
    }
}

static int read_attribute(struct onnx_reader *reader, struct model_span span,
                          struct model_attribute *out)
{
    struct raw_attribute raw = { .type = 0 };
    int code = onnx_message(reader, span, "an attribute", &raw.message);
    out->name = "";
    if (!code)
        code = read_fields(reader, &raw, out);
    if (!code && !*out->name)
        code = complain(EXIT_BAD, reader->model->path, "an attribute has no name");
    return code ? code : read_value(reader, &raw, out);
}

static int read_attributes(struct onnx_reader *reader, struct wire message, struct model_node *out)
{
    const size_t count = wire_count(message, ONNX_NODE_ATTRIBUTE, WIRE_BYTES);
    struct model_attribute *const attributes =
        arena_take(&reader->model->arena, count, sizeof *attributes);
    struct wire_field field;
    int code = attributes ? EXIT_DONE : onnx_no_memory(reader);
    out->attributes = attributes;
    while (!code && wire_find(&message, ONNX_NODE_ATTRIBUTE, WIRE_BYTES, &field))
        code = read_attribute(reader, field.bytes, &attributes[out->attribute_count++]);
    return code;
}

/* The names at the inputs or outputs of a node, still to be resolved. */
static int read_ends(const struct onnx_reader *reader, struct wire message, uint32_t number,
                     struct name_list *names, const size_t **ends, size_t *end_count)
{
    size_t *const slots =
        arena_take(&reader->model->arena, wire_count(message, number, WIRE_BYTES), sizeof *slots);
    struct wire_field field;
    if (!slots)
        return onnx_no_memory(reader);
    while (wire_find(&message, number, WIRE_BYTES, &field)) {
        const char *const name = onnx_text(reader, field.bytes);
        if (!name)
            return EXIT_WRONG;
        name_list_add(names, name, &slots[(*end_count)++]);
    }
    *ends = slots;
    return EXIT_DONE;
}

static int read_texts(const struct onnx_reader *reader, struct wire message, struct model_node *out)
{
    struct wire_field field;
    out->name = out->op = out->domain = "";
    while (wire_next(&message, &field)) {
        const char **const text = field.number == ONNX_NODE_NAME     ? &out->name
                                  : field.number == ONNX_NODE_OP     ? &out->op
                                  : field.number == ONNX_NODE_DOMAIN ? &out->domain
                                                                     : NULL;
        if (text && field.type == WIRE_BYTES && !(*text = onnx_text(reader, field.bytes)))
            return EXIT_WRONG;
    }
    if (strcmp(out->domain, "ai.onnx") == 0)
        out->domain = "";
    if (!*out->op)
        return complain(EXIT_BAD, reader->model->path, "a node has no operator");
    return EXIT_DONE;
}

int onnx_read_node(struct onnx_reader *reader, struct model_span span, struct name_list *names,
                   struct model_node *out)
{
    struct wire message;
    int code = onnx_message(reader, span, "a node", &message);
    if (!code)
        code = read_texts(reader, message, out);
    if (!code)
        code = read_ends(reader, message, ONNX_NODE_INPUT, names, &out->inputs, &out->input_count);
    if (!code)
        code =
            read_ends(reader, message, ONNX_NODE_OUTPUT, names, &out->outputs, &out->output_count);
    return code ? code : read_attributes(reader, message, out);
}

/* A tensor whose elements an attribute has, which are little-endian floats or integers. */
static int constant_of(struct onnx_reader *reader, const struct model_attribute *attribute,
                       enum model_dtype dtype, size_t *tensor)
{
    const bool is_list =
        attribute->kind == MODEL_ATTRIBUTE_INTS || attribute->kind == MODEL_ATTRIBUTE_FLOATS;
    const size_t count = is_list ? attribute->count : 1;
    const int size = model_dtype_size(dtype);
    struct model *const model = reader->model;
    uint8_t *const data = arena_take(&model->arena, count, (size_t)size);
    if (!data)
        return onnx_no_memory(reader);
    for (size_t i = 0; i < count; i++) {
        const float f = attribute->kind == MODEL_ATTRIBUTE_FLOATS  ? attribute->floats[i]
                        : attribute->kind == MODEL_ATTRIBUTE_FLOAT ? attribute->f
                                                                   : 0.0F;
        const int64_t n = attribute->kind == MODEL_ATTRIBUTE_INTS  ? attribute->ints[i]
                          : attribute->kind == MODEL_ATTRIBUTE_INT ? attribute->i
                                                                   : 0;
        store_little(data + i * (size_t)size, size,
                     dtype == MODEL_F32 ? bits_of_float(f) : (uint64_t)n);
    }
    *tensor = model->tensor_count++;
    model->tensors[*tensor] = (struct model_tensor){
        .name = "",
        .dtype = dtype,
        .dtype_name = dtype == MODEL_F32 ? "FLOAT" : "INT64",
        .rank = is_list,
        .dims = { is_list ? (int64_t)count : 0 },
        .count = (int64_t)count,
        .data = data,
        .bytes = count * (size_t)size,
        .stored = (int64_t)count,
    };
    return EXIT_DONE;
}

int onnx_constant(struct onnx_reader *reader, const struct model_node *node, bool *has,
                  size_t *tensor)
{
    *has = node->attribute_count == 1;
    const struct model_attribute *const a = node->attributes;
    if (*has && a->kind == MODEL_ATTRIBUTE_TENSOR)
        *tensor = a->tensor;
    else if (*has && (a->kind == MODEL_ATTRIBUTE_INT || a->kind == MODEL_ATTRIBUTE_INTS))
        return constant_of(reader, a, MODEL_I64, tensor);
    else if (*has && (a->kind == MODEL_ATTRIBUTE_FLOAT || a->kind == MODEL_ATTRIBUTE_FLOATS))
        return constant_of(reader, a, MODEL_F32, tensor);
    else
        *has = false;
    return EXIT_DONE;
}
