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
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct model_tensor *const tensor = &model->tensors[i];
        if (tensor->places ? model_is_changed(tensor) : tensor->make_sparse)
            return false;
    }
    return model->format == &model_format_safetensors;
}

/* The tensors follow one another without gaps, and a changed one is as large as it was. */
static void put_same_form(const struct model *model, FILE *stream)
{
    size_t at = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct model_tensor *const tensor = &model->tensors[i];
        if (!model_is_changed(tensor))
            continue;
        fwrite(model->image + at, 1, tensor->span.begin - at, stream);
        model_put_elements(tensor, stream);
        at = tensor->span.end;
    }
    fwrite(model->image + at, 1, model->size - at, stream);
}

/* A file that is made anew. */
struct remaking {
    const char *path;
    const struct model *model;
    bool *wanted; /* by tensor */
    json_t *header, *metadata;
    uint64_t at; /* where the next data goes */
};

static bool is_csr(const struct model_tensor *tensor)
{
    return tensor->make_sparse || tensor->places;
}

static const char *dtype_name(const struct model_tensor *tensor)
{
    return tensor->dtype == MODEL_OTHER ? tensor->dtype_name
                                        : safetensors_dtype_name(tensor->dtype);
}

static json_t *entry_of(const char *dtype, int rank, const int64_t *dims, uint64_t begin,
                        uint64_t end)
{
    json_t *const shape = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(shape, json_integer(dims[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape, "data_offsets",
                     (json_int_t)begin, (json_int_t)end);
}

static int add_entry(struct remaking *r, const char *name, const char *suffix, const char *dtype,
                     int rank, const int64_t *dims, uint64_t bytes)
{
    char *const whole = safetensors_part_name(name, suffix);
    int code = EXIT_DONE;
    if (!whole)
        code = complain(EXIT_WRONG, r->path, "out of memory");
    else if (json_object_get(r->header, whole))
        code = complain(EXIT_REFUSED, r->path, "two of its tensors would have the name %s", whole);
    else if (json_object_set_new(r->header, whole,
                                 entry_of(dtype, rank, dims, r->at, r->at + bytes)) != 0)
        code = complain(EXIT_REFUSED, r->path, "the name of tensor %s is no UTF-8", whole);
    r->at += bytes;
    free(whole);
    return code;
}

static int add_shape(struct remaking *r, const struct model_tensor *tensor)
{
    char *const key = safetensors_part_name(tensor->name, ".shape");
    char shape[TENSOR_MAX_RANK * 21];
    size_t used = 0;
    for (int d = 0; d < tensor->rank; d++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRId64, d ? "," : "",
                                 tensor->dims[d]);
    const bool is_good = key && json_object_set_new(r->metadata, key, json_string(shape)) == 0;
    free(key);
    return is_good
               ? EXIT_DONE
               : complain(EXIT_REFUSED, r->path, "the name of tensor %s is no UTF-8", tensor->name);
}

static int add_csr(struct remaking *r, const struct model_tensor *tensor)
{
    const int64_t offsets = tensor->dims[0] + 1;
    int64_t kept = 0;
    if (tensor->dims[0] && tensor->count / tensor->dims[0] > INT32_MAX)
        return complain(EXIT_REFUSED, r->path, "tensor %s has more columns than CSR here can have",
                        tensor->name);
    for (int64_t i = 0; i < tensor->stored; i++)
        kept += model_is_kept(tensor, i);
    int code = add_shape(r, tensor);
    if (!code)
        code = add_entry(r, tensor->name, safetensors_csr_suffixes[0], "I64", 1, &offsets,
                         (uint64_t)offsets * 8);
    if (!code)
        code = add_entry(r, tensor->name, safetensors_csr_suffixes[1], "I32", 1, &kept,
                         (uint64_t)kept * 4);
    if (!code)
        code = add_entry(r, tensor->name, safetensors_csr_suffixes[2], dtype_name(tensor), 1, &kept,
                         (uint64_t)kept * (uint64_t)model_dtype_size(tensor->dtype));
    return code;
}

static int add_tensor(struct remaking *r, const struct model_tensor *tensor)
{
    return is_csr(tensor) ? add_csr(r, tensor)
                          : add_entry(r, tensor->name, "", dtype_name(tensor), tensor->rank,
                                      tensor->dims, tensor->bytes);
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

/* Of a graph those that are values of types that are known; the attributes of its nodes have no
 * names of their own. */
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
        if (tensor != MODEL_NONE && model->tensors[tensor].dtype != MODEL_OTHER)
            r->wanted[tensor] = true;
    }
    return true;
}

/* The metadata that there was; the shapes of CSR in it are set again. */
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

static int make_header(struct remaking *r)
{
    r->header = json_object();
    r->metadata = old_metadata(r->model);
    if (!choose(r) || json_object_set(r->header, SAFETENSORS_METADATA, r->metadata) != 0)
        return complain(EXIT_WRONG, r->path, "out of memory");
    int code = EXIT_DONE;
    for (size_t i = 0; i < r->model->tensor_count && !code; i++)
        if (r->wanted[i])
            code = add_tensor(r, &r->model->tensors[i]);
    if (json_object_size(r->metadata) == 0)
        json_object_del(r->header, SAFETENSORS_METADATA);
    return code;
}

static int put_remade(const struct remaking *r, FILE *stream)
{
    char *const text = json_dumps(r->header, JSON_COMPACT);
    if (!text)
        return complain(EXIT_WRONG, r->path, "out of memory");
    const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    put_little(stream, SAFETENSORS_SIZE_BYTES, padded);
    fprintf(stream, "%s%*s", text, (int)(padded - length), "");
    free(text);
    for (size_t i = 0; i < r->model->tensor_count; i++) {
        const struct model_tensor *const tensor = &r->model->tensors[i];
        if (r->wanted[i] && is_csr(tensor))
            put_csr(tensor, stream);
        else if (r->wanted[i])
            model_put_elements(tensor, stream);
    }
    return EXIT_DONE;
}

int safetensors_write(const struct model *model, const char *path, FILE *stream)
{
    struct remaking r = { .path = path, .model = model };
    if (is_same_form(model)) {
        put_same_form(model, stream);
        return EXIT_DONE;
    }
    int code = make_header(&r);
    if (!code)
        code = put_remade(&r, stream);
    json_decref(r.header);
    json_decref(r.metadata);
    free(r.wanted);
    return code;
}
