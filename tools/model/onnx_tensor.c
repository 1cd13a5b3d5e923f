/*
 * TensorProto and SparseTensorProto: raw data is used where it lies; typed data that is no array of
 * fixed-size elements is unpacked.
 */
#include "onnx.h"

#include "complain.h"
#include "format/bytes.h"

#include <inttypes.h>
#include <string.h>

struct dtype {
    uint64_t code;
    const char *name;
    enum model_dtype dtype;
    uint32_t field; /* of its typed data */
    enum wire_type type;
};

static const struct dtype dtypes[] = {
    { 1, "FLOAT", MODEL_F32, ONNX_FLOAT_DATA, WIRE_FIXED32 },
    { 6, "INT32", MODEL_I32, ONNX_INT32_DATA, WIRE_VARINT },
    { 7, "INT64", MODEL_I64, ONNX_INT64_DATA, WIRE_VARINT },
    { 10, "FLOAT16", MODEL_F16, ONNX_INT32_DATA, WIRE_VARINT },
    { 11, "DOUBLE", MODEL_F64, ONNX_DOUBLE_DATA, WIRE_FIXED64 },
    { 16, "BFLOAT16", MODEL_BF16, ONNX_INT32_DATA, WIRE_VARINT },
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

uint64_t onnx_type_of(enum model_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].code;
    return 0;
}

static const struct dtype *find_dtype(uint64_t code)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].code == code)
            return &dtypes[i];
    return NULL;
}

static int read_dims(const struct onnx_reader *reader, struct wire_numbers dims,
                     struct model_tensor *out)
{
    uint64_t dim;
    while (wire_next_number(&dims, &dim)) {
        if (out->rank == TENSOR_MAX_RANK)
            return complain(EXIT_BAD, reader->model->path, "tensor %s has more than %d dimensions",
                            out->name, TENSOR_MAX_RANK);
        if (dim > INT64_MAX)
            return complain(EXIT_BAD, reader->model->path, "tensor %s has dimension %" PRId64,
                            out->name, (int64_t)dim);
        out->dims[out->rank++] = (int64_t)dim;
    }
    if (tensor_product(out->rank, out->dims, &out->count))
        return EXIT_DONE;
    return complain(EXIT_BAD, reader->model->path, "tensor %s: its dimensions are too large",
                    out->name);
}

/* Name, type and dimensions. */
static int read_head(const struct onnx_reader *reader, struct wire message,
                     struct model_tensor *out, const struct dtype **dtype)
{
    struct wire_field field;
    uint64_t code = 0;
    out->name = "";
    for (struct wire rest = message; wire_next(&rest, &field);) {
        if (field.number == ONNX_DATA_TYPE && field.type == WIRE_VARINT)
            code = field.value;
        if (field.number == ONNX_TENSOR_NAME && field.type == WIRE_BYTES &&
            !(out->name = onnx_text(reader, field.bytes)))
            return EXIT_WRONG;
    }
    *dtype = find_dtype(code);
    out->dtype = *dtype ? (*dtype)->dtype : MODEL_OTHER;
    out->dtype_name = *dtype ? (*dtype)->name : "another type";
    return read_dims(reader, wire_numbers_of(message, ONNX_DIMS, WIRE_VARINT), out);
}

static int refuse_size(const struct onnx_reader *reader, const struct model_tensor *tensor,
                       uint64_t elements)
{
    char shape[TENSOR_SHAPE_TEXT];
    return complain(EXIT_BAD, reader->model->path,
                    "tensor %s has data for %" PRIu64 " elements, its shape is %s", tensor->name,
                    elements, tensor_shape_text(tensor->rank, tensor->dims, shape));
}

/* Typed data that lies packed in one piece is used in place: it is what raw data would be. */
static bool is_one_array(struct wire message, const struct dtype *dtype, const uint8_t **data)
{
    struct wire_field field;
    if (dtype->type == WIRE_VARINT || wire_count(message, dtype->field, WIRE_BYTES) != 1 ||
        wire_count(message, dtype->field, dtype->type) != 0)
        return false;
    wire_find(&message, dtype->field, WIRE_BYTES, &field);
    *data = message.image + field.bytes.begin;
    return true;
}

static int read_typed(const struct onnx_reader *reader, struct wire message,
                      const struct dtype *dtype, struct model_tensor *out)
{
    struct wire_numbers numbers = wire_numbers_of(message, dtype->field, dtype->type);
    const size_t count = wire_count_numbers(numbers);
    const int size = model_dtype_size(dtype->dtype);
    uint64_t value;
    if (count != (uint64_t)out->count)
        return refuse_size(reader, out, count);
    out->bytes = count * (size_t)size;
    if (is_one_array(message, dtype, &out->data))
        return EXIT_DONE;
    uint8_t *const data = arena_take(&reader->model->arena, count, (size_t)size);
    if (!data)
        return onnx_no_memory(reader);
    for (size_t i = 0; wire_next_number(&numbers, &value); i++)
        store_little(data + i * (size_t)size, size, value);
    out->data = data;
    return EXIT_DONE;
}

/* Raw data, here or in another file; of a type that is not looked at there may be any. */
static int take_raw(const struct onnx_reader *reader, const uint8_t *data, size_t size,
                    struct model_tensor *out)
{
    const size_t item = (size_t)model_dtype_size(out->dtype);
    if (item && (size % item != 0 || size / item != (uint64_t)out->count))
        return refuse_size(reader, out, size / item);
    out->data = data;
    out->bytes = size;
    return EXIT_DONE;
}

static int read_external(struct onnx_reader *reader, struct wire message, struct model_tensor *out)
{
    const uint8_t *data;
    size_t size;
    const int code = onnx_external_data(reader, message, out->name, &data, &size);
    out->is_external = true;
    return code ? code : take_raw(reader, data, size, out);
}

static int read_data(struct onnx_reader *reader, struct wire message, const struct dtype *dtype,
                     struct model_tensor *out)
{
    enum { EXTERNAL = 1 };
    struct wire_field field;
    struct wire raw = message, location = message;
    if (wire_find(&location, ONNX_DATA_LOCATION, WIRE_VARINT, &field) && field.value == EXTERNAL)
        return read_external(reader, message, out);
    if (!dtype)
        return EXIT_DONE;
    if (!wire_find(&raw, ONNX_RAW_DATA, WIRE_BYTES, &field))
        return read_typed(reader, message, dtype, out);
    if (wire_count(raw, ONNX_RAW_DATA, WIRE_BYTES) != 0 ||
        wire_count_numbers(wire_numbers_of(message, dtype->field, dtype->type)) != 0)
        return complain(EXIT_BAD, reader->model->path, "tensor %s has its data twice", out->name);
    return take_raw(reader, message.image + field.bytes.begin, field.bytes.end - field.bytes.begin,
                    out);
}

int onnx_read_tensor(struct onnx_reader *reader, struct model_span span, struct model_tensor *out)
{
    const struct dtype *dtype;
    struct wire message;
    int code = onnx_message(reader, span, "a tensor", &message);
    if (code)
        return code;
    out->span = span;
    code = read_head(reader, message, out, &dtype);
    out->stored = out->count;
    return code ? code : read_data(reader, message, dtype, out);
}

/* The place that the indices of element i name, or -1. */
static int64_t place_of(const struct model_tensor *tensor, const struct model_tensor *indices,
                        int64_t i)
{
    int64_t place = 0;
    if (indices->rank == 1) {
        place = model_integer(indices, i);
        return place < tensor->count ? place : -1;
    }
    for (int d = 0; d < tensor->rank; d++) {
        const int64_t index = model_integer(indices, i * tensor->rank + d);
        if (index < 0 || index >= tensor->dims[d])
            return -1;
        place = place * tensor->dims[d] + index;
    }
    return place;
}

static int read_places(const struct onnx_reader *reader, const struct model_tensor *indices,
                       struct model_tensor *out)
{
    const bool is_linear = indices->rank == 1 && indices->dims[0] == out->stored;
    const bool is_full =
        indices->rank == 2 && indices->dims[0] == out->stored && indices->dims[1] == out->rank;
    if (indices->dtype != MODEL_I64 || (!is_linear && !is_full))
        return complain(EXIT_BAD, reader->model->path,
                        "sparse tensor %s: its indices are not what %" PRId64 " values need",
                        out->name, out->stored);
    int64_t *const places = arena_take(&reader->model->arena, (size_t)out->stored, sizeof *places);
    if (!places)
        return onnx_no_memory(reader);
    for (int64_t i = 0; i < out->stored; i++) {
        places[i] = place_of(out, indices, i);
        if (places[i] < 0 || (i > 0 && places[i] <= places[i - 1]))
            return complain(EXIT_BAD, reader->model->path,
                            "sparse tensor %s: index %" PRId64
                            " is out of range, doubled or out of order",
                            out->name, i);
    }
    out->places = places;
    return EXIT_DONE;
}

/* One of the two tensors that a sparse one is made of. */
static int read_part(struct onnx_reader *reader, struct wire message, uint32_t number,
                     const char *what, struct model_tensor *out)
{
    struct wire_field field;
    if (!wire_find(&message, number, WIRE_BYTES, &field))
        return complain(EXIT_BAD, reader->model->path, "a sparse tensor has no %s", what);
    return onnx_read_tensor(reader, field.bytes, out);
}

/* The shape of the whole, of which *out has the values so far. */
static int read_sparse_shape(struct onnx_reader *reader, struct wire message,
                             struct model_tensor *out)
{
    if (!model_is_float(out))
        return complain(EXIT_BAD, reader->model->path, "sparse tensor %s is not of floats",
                        out->name);
    out->rank = 0;
    const int code =
        read_dims(reader, wire_numbers_of(message, ONNX_SPARSE_DIMS, WIRE_VARINT), out);
    if (!code && out->rank == 0)
        return complain(EXIT_BAD, reader->model->path, "sparse tensor %s has no dimensions",
                        out->name);
    return code ? code : model_allow(reader->model, out, &reader->expanded);
}

int onnx_read_sparse(struct onnx_reader *reader, struct model_span span, struct model_tensor *out)
{
    struct model_tensor indices = { 0 };
    struct wire message;
    int code = onnx_message(reader, span, "a sparse tensor", &message);
    if (!code)
        code = read_part(reader, message, ONNX_SPARSE_VALUES, "values", out);
    if (!code)
        code = read_part(reader, message, ONNX_SPARSE_INDICES, "indices", &indices);
    if (!code)
        code = read_sparse_shape(reader, message, out);
    out->span = span;
    out->is_external = out->is_external || indices.is_external;
    return code ? code : read_places(reader, &indices, out);
}
