#include "model.h"

#include "complain.h"
#include "format/bytes.h"
#include "format/half.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct model_format *model_format_of(const uint8_t *data, size_t size)
{
    for (const struct model_format *const *f = model_formats; *f; f++)
        if ((*f)->probe(data, size))
            return *f;
    return NULL;
}

const struct model_format *model_format_named(const char *name)
{
    for (const struct model_format *const *f = model_formats; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

static const char *format_list(char list[64])
{
    list[0] = '\0';
    for (const struct model_format *const *f = model_formats; *f; f++) {
        const size_t used = strlen(list);
        snprintf(list + used, 64 - used, "%s%s", used ? ", " : "", (*f)->name);
    }
    return list;
}

int model_read_memory(const char *path, uint8_t *image, size_t size, struct model *out)
{
    char list[64];
    *out = (struct model){ .format = model_format_of(image, size), .image = image, .size = size };
    int code;
    if (!out->format)
        code = complain(EXIT_BAD, path, "is no model file: its content is none of %s",
                        format_list(list));
    else if (!(out->path = arena_text(&out->arena, path, strlen(path))))
        code = complain(EXIT_WRONG, path, "out of memory");
    else
        code = out->format->read(out);
    if (code)
        model_free(out);
    return code;
}

int model_read_begun(const char *path, struct file *file, struct model *out)
{
    *out = (struct model){ 0 };
    const bool is_model = model_format_of(file->data, file->size) != NULL;
    int code = is_model ? file_rest(path, file) : EXIT_DONE; /* what is none may be endless */
    if (code)
        return code;
    code = model_read_memory(path, file->data, file->size, out);
    file->data = NULL;
    return code;
}

int model_read(const char *path, struct model *out)
{
    struct file file;
    *out = (struct model){ 0 };
    int code = file_begin(path, &file);
    if (!code)
        code = model_read_begun(path, &file, out);
    file_free(&file);
    return code;
}

void model_free(struct model *model)
{
    arena_free(&model->arena);
    free(model->image);
    *model = (struct model){ 0 };
}

const struct model_attribute *model_attribute(const struct model_node *node, const char *name,
                                              enum model_attribute_kind kind)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (node->attributes[i].kind == kind && strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    return NULL;
}

int64_t model_attribute_int(const struct model_node *node, const char *name, int64_t otherwise)
{
    const struct model_attribute *const a = model_attribute(node, name, MODEL_ATTRIBUTE_INT);
    return a ? a->i : otherwise;
}

float model_attribute_float(const struct model_node *node, const char *name, float otherwise)
{
    const struct model_attribute *const a = model_attribute(node, name, MODEL_ATTRIBUTE_FLOAT);
    return a ? a->f : otherwise;
}

const char *model_attribute_string(const struct model_node *node, const char *name,
                                   const char *otherwise)
{
    const struct model_attribute *const a = model_attribute(node, name, MODEL_ATTRIBUTE_STRING);
    return a ? a->s : otherwise;
}

size_t model_node_input(const struct model_node *node, size_t index)
{
    return index < node->input_count ? node->inputs[index] : MODEL_NONE;
}

const struct model_tensor *model_constant_input(const struct model *model,
                                                const struct model_node *node, size_t index)
{
    enum { MOST_STEPS = 8 }; /* chains are short; long ones would cost a hostile file little */
    size_t value = model_node_input(node, index);
    for (int i = 0; value != MODEL_NONE && model->values[value].node != MODEL_NONE; i++) {
        const struct model_node *const source = &model->nodes[model->values[value].node];
        if (i == MOST_STEPS || strcmp(source->op, "Identity") != 0)
            return NULL;
        value = model_node_input(source, 0);
    }
    const size_t tensor = value == MODEL_NONE ? MODEL_NONE : model->values[value].tensor;
    return tensor == MODEL_NONE ? NULL : &model->tensors[tensor];
}

bool model_is_float(const struct model_tensor *tensor)
{
    return tensor->dtype >= MODEL_F16 && tensor->dtype <= MODEL_F64;
}

bool model_is_integer(const struct model_tensor *tensor)
{
    return tensor->dtype == MODEL_I32 || tensor->dtype == MODEL_I64;
}

int model_dtype_size(enum model_dtype dtype)
{
    static const int sizes[] = { 0, 2, 2, 4, 8, 4, 8 };
    return sizes[dtype];
}

int model_allow(const struct model *model, const struct model_tensor *tensor, int64_t *taken)
{
    enum { ELEMENTS_PER_BYTE = 64, ALWAYS = 1 << 22 };
    int64_t most;
    if (__builtin_mul_overflow(model->size + model->other_size, ELEMENTS_PER_BYTE, &most) ||
        __builtin_add_overflow(most, ALWAYS, &most))
        most = INT64_MAX;
    if (!__builtin_add_overflow(*taken, tensor->count, taken) && *taken <= most)
        return EXIT_DONE;
    return complain(EXIT_BAD, model->path,
                    "tensor %s: with its %" PRId64 " elements there are too many for a file of %zu "
                    "bytes",
                    tensor->name, tensor->count, model->size);
}

static float element(const struct model_tensor *tensor, int64_t i)
{
    const int size = model_dtype_size(tensor->dtype);
    const uint64_t bits = load_bytes(tensor->data + size * i, size, false);
    if (tensor->dtype == MODEL_F16)
        return half_value((uint32_t)bits);
    if (tensor->dtype == MODEL_BF16)
        return float_of_bits((uint32_t)bits << 16);
    return size == 4 ? float_of_bits((uint32_t)bits) : (float)double_of_bits(bits);
}

int model_floats(const struct model *model, const struct model_tensor *tensor, float **out)
{
    *out = NULL;
    if (!model_is_float(tensor))
        return complain(EXIT_BAD, model->path, "tensor %s is of type %s, not of floats",
                        tensor->name, tensor->dtype_name);
    float *const values = calloc((size_t)tensor->count + 1, sizeof *values);
    if (!values)
        return complain(EXIT_WRONG, model->path, "no room for the values of tensor %s",
                        tensor->name);
    if (tensor->pruned)
        memcpy(values, tensor->pruned, (size_t)tensor->count * sizeof *values);
    else
        for (int64_t i = 0; i < tensor->stored; i++)
            values[tensor->places ? tensor->places[i] : i] = element(tensor, i);
    *out = values;
    return EXIT_DONE;
}

int64_t model_integer(const struct model_tensor *tensor, int64_t i)
{
    const int size = model_dtype_size(tensor->dtype);
    const uint64_t bits = load_bytes(tensor->data + size * i, size, false);
    return size == 4 ? (int32_t)bits : (int64_t)bits;
}

bool model_is_pruned(const struct model_tensor *tensor, int64_t i)
{
    return tensor->pruned && tensor->pruned[tensor->places ? tensor->places[i] : i] == 0.0F &&
           element(tensor, i) != 0.0F;
}

bool model_is_changed(const struct model_tensor *tensor)
{
    for (int64_t i = 0; tensor->pruned && i < tensor->stored; i++)
        if (model_is_pruned(tensor, i))
            return true;
    return false;
}

bool model_is_kept(const struct model_tensor *tensor, int64_t i)
{
    return !model_is_pruned(tensor, i) && (tensor->places || element(tensor, i) != 0.0F);
}

void model_put_elements(const struct model_tensor *tensor, FILE *stream)
{
    static const uint8_t zero[8] = { 0 };
    const size_t size = (size_t)model_dtype_size(tensor->dtype);
    if (!tensor->pruned)
        fwrite(tensor->data, 1, tensor->bytes, stream);
    else
        for (int64_t i = 0; i < tensor->stored; i++)
            fwrite(model_is_pruned(tensor, i) ? zero : tensor->data + i * (int64_t)size, size, 1,
                   stream);
}
