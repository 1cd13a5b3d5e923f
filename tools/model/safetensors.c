#include "safetensors.h"

#include "complain.h"
#include "format/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The format allows 100 MB; parsed, a header takes a multiple of its size. */
enum { MOST_HEADER = 16 << 20 };

struct dtype {
    const char *name;
    int size;
    enum model_dtype dtype;
};

static const struct dtype dtypes[] = {
    { "F16", 2, MODEL_F16 },    { "BF16", 2, MODEL_BF16 },     { "F32", 4, MODEL_F32 },
    { "F64", 8, MODEL_F64 },    { "I32", 4, MODEL_I32 },       { "I64", 8, MODEL_I64 },
    { "BOOL", 1, MODEL_OTHER }, { "U8", 1, MODEL_OTHER },      { "I8", 1, MODEL_OTHER },
    { "U16", 2, MODEL_OTHER },  { "I16", 2, MODEL_OTHER },     { "U32", 4, MODEL_OTHER },
    { "U64", 8, MODEL_OTHER },  { "F8_E4M3", 1, MODEL_OTHER }, { "F8_E5M2", 1, MODEL_OTHER },
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

const char *safetensors_dtype_name(enum model_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtype != MODEL_OTHER && dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

static const struct dtype *find_dtype(const char *name)
{
    for (int i = 0; i < DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

/* 8 bytes that are a size which fits in 40 bits, and the brace that the header begins with. */
static bool probe(const uint8_t *data, size_t size)
{
    return size > SAFETENSORS_SIZE_BYTES && data[SAFETENSORS_SIZE_BYTES] == '{' &&
           load_bytes(data, SAFETENSORS_SIZE_BYTES, false) >> 40 == 0;
}

/* Where the data begins. */
static size_t data_start(const struct model *model)
{
    return SAFETENSORS_SIZE_BYTES + (size_t)load_bytes(model->image, SAFETENSORS_SIZE_BYTES, false);
}

static int check_header_size(const struct model *model)
{
    const uint64_t size = load_bytes(model->image, SAFETENSORS_SIZE_BYTES, false);
    if (size > MOST_HEADER)
        return complain(EXIT_BAD, model->path,
                        "has a header of %" PRIu64 " bytes; up to %d are read", size, MOST_HEADER);
    if (size > model->size - SAFETENSORS_SIZE_BYTES)
        return complain(EXIT_BAD, model->path,
                        "is truncated: it has %zu bytes, its header alone %" PRIu64, model->size,
                        size);
    return EXIT_DONE;
}

static json_t *load_header(const struct model *model, json_error_t *error)
{
    return json_loadb((const char *)model->image + SAFETENSORS_SIZE_BYTES,
                      data_start(model) - SAFETENSORS_SIZE_BYTES, JSON_REJECT_DUPLICATES, error);
}

json_t *safetensors_header(const struct model *model)
{
    json_error_t error;
    return load_header(model, &error);
}

static int bad_entry(const struct model *model, const char *name, const char *what)
{
    return complain(EXIT_BAD, model->path, "tensor %s: %s", name, what);
}

static int read_shape(const struct model *model, const json_t *shape, struct model_tensor *out)
{
    if (!json_is_array(shape))
        return bad_entry(model, out->name, "its shape is no list");
    if (json_array_size(shape) > TENSOR_MAX_RANK)
        return bad_entry(model, out->name, "it has more than 8 dimensions");
    out->rank = (int)json_array_size(shape);
    for (int i = 0; i < out->rank; i++) {
        const json_t *const dim = json_array_get(shape, (size_t)i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return bad_entry(model, out->name, "its shape is no list of sizes");
        out->dims[i] = json_integer_value(dim);
    }
    if (!tensor_product(out->rank, out->dims, &out->count))
        return bad_entry(model, out->name, "its dimensions are too large");
    out->stored = out->count;
    return EXIT_DONE;
}

static int read_offsets(const struct model *model, const json_t *offsets, struct model_tensor *out)
{
    const size_t start = data_start(model);
    const json_t *const begin = json_array_get(offsets, 0), *const end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return bad_entry(model, out->name, "its data_offsets are no two numbers");
    const json_int_t from = json_integer_value(begin), to = json_integer_value(end);
    if (from < 0 || to < from || (uint64_t)to > model->size - start)
        return bad_entry(model, out->name, "its data_offsets are not within the file");
    out->span = (struct model_span){ start + (size_t)from, start + (size_t)to };
    out->data = model->image + out->span.begin;
    out->bytes = out->span.end - out->span.begin;
    return EXIT_DONE;
}

static int read_dtype(struct model *model, const json_t *name, struct model_tensor *out)
{
    if (!json_is_string(name))
        return bad_entry(model, out->name, "its dtype is no text");
    const struct dtype *const dtype = find_dtype(json_string_value(name));
    out->dtype_name = arena_text(&model->arena, json_string_value(name), json_string_length(name));
    if (!out->dtype_name)
        return complain(EXIT_WRONG, model->path, "out of memory");
    if (!dtype) /* one that is newer than this reader: its bytes are kept */
        return EXIT_DONE;
    out->dtype = dtype->dtype;
    if (out->bytes % (size_t)dtype->size == 0 &&
        out->bytes / (size_t)dtype->size == (uint64_t)out->count)
        return EXIT_DONE;
    char shape[TENSOR_SHAPE_TEXT];
    return complain(EXIT_BAD, model->path, "tensor %s has %zu bytes, which are not %s of %s",
                    out->name, out->bytes, tensor_shape_text(out->rank, out->dims, shape),
                    dtype->name);
}

static int read_tensor(struct model *model, const char *name, const json_t *entry)
{
    struct model_tensor *const out = &model->tensors[model->tensor_count++];
    out->name = arena_text(&model->arena, name, strlen(name));
    if (!out->name)
        return complain(EXIT_WRONG, model->path, "out of memory");
    if (!*name)
        return complain(EXIT_BAD, model->path, "a tensor has no name");
    if (!json_is_object(entry))
        return bad_entry(model, out->name, "its entry in the header is no object");
    int code = read_shape(model, json_object_get(entry, "shape"), out);
    if (!code)
        code = read_offsets(model, json_object_get(entry, "data_offsets"), out);
    return code ? code : read_dtype(model, json_object_get(entry, "dtype"), out);
}

static int by_place(const void *a, const void *b)
{
    const struct model_tensor *const x = a, *const y = b;
    if (x->span.begin != y->span.begin)
        return x->span.begin < y->span.begin ? -1 : 1;
    if (x->span.end != y->span.end)
        return x->span.end < y->span.end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Neither holes nor overlaps. */
static int check_places(const struct model *model)
{
    size_t at = data_start(model);
    for (size_t i = 0; i < model->tensor_count; i++) {
        if (model->tensors[i].span.begin != at)
            return bad_entry(model, model->tensors[i].name,
                             model->tensors[i].span.begin < at
                                 ? "its data overlaps with another tensor's"
                                 : "there is a hole before its data");
        at = model->tensors[i].span.end;
    }
    if (at != model->size)
        return complain(EXIT_BAD, model->path, "has %zu bytes behind its last tensor",
                        model->size - at);
    return EXIT_DONE;
}

static int check_metadata(const struct model *model, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (metadata && !json_is_object(metadata))
        return complain(EXIT_BAD, model->path, "its metadata is no object");
    json_object_foreach(metadata, key, value) if (!json_is_string(value)) return complain(
        EXIT_BAD, model->path, "its metadata %s is no text", key);
    return EXIT_DONE;
}

static int read_entries(struct model *model, json_t *header)
{
    const char *key;
    json_t *value;
    json_t *const metadata = json_object_get(header, SAFETENSORS_METADATA);
    model->tensors = arena_take(&model->arena, json_object_size(header), sizeof *model->tensors);
    if (!model->tensors)
        return complain(EXIT_WRONG, model->path, "out of memory");
    int code = check_metadata(model, metadata);
    json_object_foreach(header, key, value) if (!code && value != metadata) code =
        read_tensor(model, key, value);
    if (code)
        return code;
    qsort(model->tensors, model->tensor_count, sizeof *model->tensors, by_place);
    code = check_places(model);
    return code ? code : safetensors_join_csr(model, metadata);
}

static int read_model(struct model *model)
{
    json_error_t error;
    int code = check_header_size(model);
    if (code)
        return code;
    json_t *const header = load_header(model, &error);
    if (!json_is_object(header))
        code = complain(EXIT_BAD, model->path, "its header is no JSON object: %s", error.text);
    else
        code = read_entries(model, header);
    json_decref(header);
    return code;
}

const struct model_format model_format_safetensors = {
    .name = "safetensors",
    .extension = ".safetensors",
    .probe = probe,
    .read = read_model,
    .write = safetensors_write,
};
