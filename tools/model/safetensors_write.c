/*
 * Writing a model as safetensors. Where every tensor keeps its form the header is copied, and the
 * data but for pruned elements; else the header is made anew.
 */
#include "safetensors.h"

#include "complain.h"
#include "format/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_same_form(const struct model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].make_sparse || (model->tensors[i].pruned && model->tensors[i].places))
            return false;
    return model->format == &model_format_safetensors;
}

/* The tensors follow one another without gaps, and a changed one is as large as it was. */
static void put_same_form(const struct model *model, FILE *stream)
{
    size_t at = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct model_tensor *const tensor = &model->tensors[i];
        if (!tensor->pruned)
            continue;
        fwrite(model->image + at, 1, tensor->span.begin - at, stream);
        model_put_elements(tensor, stream);
        at = tensor->span.end;
    }
    fwrite(model->image + at, 1, model->size - at, stream);
}

/* A file that is made anew. */
struct remaking {
    const struct model *model;
    bool *wanted; /* by tensor */
    json_t *header, *metadata;
    uint64_t at; /* where the next data goes */
};

static bool is_csr(const struct model_tensor *tensor)
{
    return tensor->make_sparse || tensor->places;
}

static uint64_t dense_bytes(const struct model_tensor *tensor)
{
    return tensor->dtype == MODEL_OTHER
               ? tensor->span.end - tensor->span.begin
               : (uint64_t)tensor->stored * (uint64_t)model_dtype_size(tensor->dtype);
}

static const char *dtype_name(const struct model_tensor *tensor)
{
    return tensor->dtype == MODEL_OTHER ? tensor->dtype_name
                                        : safetensors_dtype_name(tensor->dtype);
}

/* NAME.suffix, to be freed. */
static char *part_name(const char *name, const char *suffix)
{
    const size_t length = strlen(name), more = strlen(suffix);
    char *const whole = malloc(length + more + 1);
    if (whole) {
        memcpy(whole, name, length);
        memcpy(whole + length, suffix, more + 1);
    }
    return whole;
}

static bool add_entry(struct remaking *r, const char *name, const char *suffix, const char *dtype,
                      int rank, const int64_t *dims, uint64_t bytes)
{
    char *const whole = part_name(name, suffix);
    json_t *const shape = json_array();
    bool is_good = whole && shape;
    for (int i = 0; i < rank && is_good; i++)
        is_good = json_array_append_new(shape, json_integer(dims[i])) == 0;
    is_good =
        is_good && json_object_set_new(r->header, whole,
                                       json_pack("{s:s, s:O, s:[I, I]}", "dtype", dtype, "shape",
                                                 shape, "data_offsets", (json_int_t)r->at,
                                                 (json_int_t)(r->at + bytes))) == 0;
    r->at += bytes;
    json_decref(shape);
    free(whole);
    return is_good;
}

static bool add_shape(struct remaking *r, const struct model_tensor *tensor)
{
    char *const key = part_name(tensor->name, ".shape");
    char shape[TENSOR_MAX_RANK * 21];
    size_t used = 0;
    for (int d = 0; d < tensor->rank; d++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRId64, d ? "," : "",
                                 tensor->dims[d]);
    const bool is_good = key && json_object_set_new(r->metadata, key, json_string(shape)) == 0;
    free(key);
    return is_good;
}

static bool add_csr(struct remaking *r, const struct model_tensor *tensor)
{
    const int64_t offsets = tensor->dims[0] + 1;
    int64_t kept = 0;
    for (int64_t i = 0; i < tensor->stored; i++)
        kept += model_is_kept(tensor, i);
    return add_shape(r, tensor) &&
           add_entry(r, tensor->name, safetensors_csr_suffixes[0], "I64", 1, &offsets,
                     (uint64_t)offsets * 8) &&
           add_entry(r, tensor->name, safetensors_csr_suffixes[1], "I32", 1, &kept,
                     (uint64_t)kept * 4) &&
           add_entry(r, tensor->name, safetensors_csr_suffixes[2], dtype_name(tensor), 1, &kept,
                     (uint64_t)kept * (uint64_t)model_dtype_size(tensor->dtype));
}

static bool add_tensor(struct remaking *r, const struct model_tensor *tensor)
{
    return is_csr(tensor) ? add_csr(r, tensor)
                          : add_entry(r, tensor->name, "", dtype_name(tensor), tensor->rank,
                                      tensor->dims, dense_bytes(tensor));
}

static void put_little(FILE *stream, int size, uint64_t value)
{
    uint8_t bytes[8];
    store_little(bytes, size, value);
    fwrite(bytes, 1, (size_t)size, stream);
}

static int64_t place_of(const struct model_tensor *tensor, int64_t i)
{
    return tensor->places ? tensor->places[i] : i;
}

static void put_row_offsets(const struct model_tensor *tensor, int64_t columns, FILE *stream)
{
    int64_t i = 0, kept = 0;
    put_little(stream, 8, 0);
    for (int64_t m = 1; m <= tensor->dims[0]; m++) {
        for (; i < tensor->stored && place_of(tensor, i) < m * columns; i++)
            kept += model_is_kept(tensor, i);
        put_little(stream, 8, (uint64_t)kept);
    }
}

static void put_csr(const struct model_tensor *tensor, FILE *stream)
{
    const int64_t size = model_dtype_size(tensor->dtype);
    const int64_t columns = tensor->dims[0] ? tensor->count / tensor->dims[0] : 0;
    put_row_offsets(tensor, columns, stream);
    for (int64_t i = 0; i < tensor->stored; i++)
        if (model_is_kept(tensor, i))
            put_little(stream, 4, (uint64_t)(place_of(tensor, i) % columns));
    for (int64_t i = 0; i < tensor->stored; i++)
        if (model_is_kept(tensor, i))
            fwrite(tensor->data + i * size, (size_t)size, 1, stream);
}

static void put_dense(const struct model_tensor *tensor, FILE *stream)
{
    if (tensor->pruned)
        model_put_elements(tensor, stream);
    else
        fwrite(tensor->data, 1, dense_bytes(tensor), stream);
}

static int no_memory(const char *path)
{
    return complain(EXIT_WRONG, path, "out of memory");
}

/* Of a graph those that are values; the attributes of its nodes have no names of their own. */
static bool choose(struct remaking *r)
{
    const struct model *const model = r->model;
    r->wanted = calloc(model->tensor_count + 1, sizeof *r->wanted);
    if (!r->wanted)
        return false;
    for (size_t i = 0; i < model->tensor_count && !model->has_graph; i++)
        r->wanted[i] = true;
    for (size_t i = 0; i < model->value_count; i++) {
        const size_t tensor = model->values[i].tensor;
        if (tensor != MODEL_NONE && model->tensors[tensor].data)
            r->wanted[tensor] = true;
    }
    return true;
}

/* The metadata that there was, less the shapes of CSR, which are made again. */
static json_t *old_metadata(const struct model *model)
{
    json_t *metadata = NULL;
    if (model->format == &model_format_safetensors) {
        json_t *const header = safetensors_header(model);
        metadata = json_incref(json_object_get(header, SAFETENSORS_METADATA));
        json_decref(header);
    }
    return metadata ? metadata : json_object();
}

static int make_header(struct remaking *r, const char *path)
{
    r->header = json_object();
    r->metadata = old_metadata(r->model);
    bool is_good = r->header && r->metadata && choose(r) &&
                   json_object_set(r->header, SAFETENSORS_METADATA, r->metadata) == 0;
    for (size_t i = 0; i < r->model->tensor_count && is_good; i++)
        if (r->wanted[i])
            is_good = add_tensor(r, &r->model->tensors[i]);
    if (is_good && json_object_size(r->metadata) == 0)
        json_object_del(r->header, SAFETENSORS_METADATA);
    return is_good ? EXIT_DONE : no_memory(path);
}

static int put_remade(const struct remaking *r, const char *path, FILE *stream)
{
    char *const text = json_dumps(r->header, JSON_COMPACT);
    if (!text)
        return complain(EXIT_BAD, path, "a name of a tensor is no UTF-8");
    const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    put_little(stream, SAFETENSORS_SIZE_BYTES, padded);
    fprintf(stream, "%s%*s", text, (int)(padded - length), "");
    free(text);
    for (size_t i = 0; i < r->model->tensor_count; i++) {
        const struct model_tensor *const tensor = &r->model->tensors[i];
        if (r->wanted[i] && is_csr(tensor))
            put_csr(tensor, stream);
        else if (r->wanted[i])
            put_dense(tensor, stream);
    }
    return EXIT_DONE;
}

int safetensors_write(const struct model *model, const char *path, FILE *stream)
{
    struct remaking r = { .model = model };
    if (is_same_form(model)) {
        put_same_form(model, stream);
        return EXIT_DONE;
    }
    int code = make_header(&r, path);
    if (!code)
        code = put_remade(&r, path, stream);
    json_decref(r.header);
    json_decref(r.metadata);
    free(r.wanted);
    return code;
}
