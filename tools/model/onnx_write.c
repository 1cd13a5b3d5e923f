/*
 * Writing an ONNX file again: bytes are copied but for the tensors that change, and the lengths of
 * the messages around them. So fields that this reader knows nothing of survive too.
 */
#include "onnx.h"

#include "complain.h"
#include "format/bytes.h"

#include <stdlib.h>
#include <string.h>

/* A message whose content is replaced. */
struct edit {
    struct model_span span;
    char *bytes;
    size_t size;
};

struct edits {
    const uint8_t *image;
    struct edit *items; /* by place */
    size_t count;
};

static void put_span(FILE *stream, const uint8_t *image, struct model_span span)
{
    fwrite(image + span.begin, 1, span.end - span.begin, stream);
}

static bool is_data(const struct wire_field *field)
{
    switch (field->number) {
    case ONNX_FLOAT_DATA:
    case ONNX_INT32_DATA:
    case ONNX_INT64_DATA:
    case ONNX_DOUBLE_DATA:
    case ONNX_RAW_DATA:
    case ONNX_EXTERNAL_DATA:
    case ONNX_DATA_LOCATION:
        return true;
    default:
        return false;
    }
}

/* Data that is used where it lies is written there again. */
static void put_in_place(FILE *stream, const struct model *model, const struct model_tensor *tensor)
{
    struct wire message = wire_of(model->image, tensor->span);
    struct wire_field field;
    while (wire_next(&message, &field)) {
        if (field.type == WIRE_BYTES && model->image + field.bytes.begin == tensor->data &&
            tensor->bytes) {
            wire_put_head(stream, field.number, tensor->bytes);
            model_put_elements(tensor, stream);
        } else {
            put_span(stream, model->image, field.whole);
        }
    }
}

/* The tensor with all its other fields, and raw data where its data began. */
static void put_as_raw(FILE *stream, const struct model *model, const struct model_tensor *tensor)
{
    struct wire message = wire_of(model->image, tensor->span);
    struct wire_field field;
    bool is_done = false;
    while (wire_next(&message, &field)) {
        if (!is_data(&field)) {
            put_span(stream, model->image, field.whole);
        } else if (!is_done) {
            wire_put_head(stream, ONNX_RAW_DATA, tensor->bytes);
            model_put_elements(tensor, stream);
            is_done = true;
        }
    }
}

static bool is_in_image(const struct model *model, const struct model_tensor *tensor)
{
    const uintptr_t data = (uintptr_t)tensor->data, image = (uintptr_t)model->image;
    return data >= image && data < image + model->size;
}

static void put_varint_field(FILE *stream, uint32_t number, uint64_t value)
{
    wire_put_varint(stream, (uint64_t)number << 3 | WIRE_VARINT);
    wire_put_varint(stream, value);
}

static void put_sparse_values(FILE *stream, const struct model_tensor *tensor, uint64_t kept)
{
    const size_t size = (size_t)model_dtype_size(tensor->dtype);
    put_varint_field(stream, ONNX_DIMS, kept);
    put_varint_field(stream, ONNX_DATA_TYPE, onnx_type_of(tensor->dtype));
    wire_put_head(stream, ONNX_TENSOR_NAME, strlen(tensor->name));
    fputs(tensor->name, stream);
    wire_put_head(stream, ONNX_RAW_DATA, (size_t)kept * size);
    for (int64_t i = 0; i < tensor->stored; i++)
        if (!model_is_pruned(tensor, i))
            fwrite(tensor->data + i * (int64_t)size, size, 1, stream);
}

static void put_sparse_indices(FILE *stream, const struct model_tensor *tensor, uint64_t kept)
{
    uint8_t place[8];
    put_varint_field(stream, ONNX_DIMS, kept);
    put_varint_field(stream, ONNX_DATA_TYPE, ONNX_TYPE_INT64);
    wire_put_head(stream, ONNX_RAW_DATA, (size_t)kept * sizeof place);
    for (int64_t i = 0; i < tensor->stored; i++)
        if (!model_is_pruned(tensor, i)) {
            store_little(place, sizeof place, (uint64_t)tensor->places[i]);
            fwrite(place, sizeof place, 1, stream);
        }
}

/* A message within a message, of which only its writer knows the size. */
static int put_part(FILE *stream, const struct model *model, const struct model_tensor *tensor,
                    uint32_t number, uint64_t kept,
                    void (*put)(FILE *, const struct model_tensor *, uint64_t))
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *const part = open_memstream(&bytes, &size);
    if (part)
        put(part, tensor, kept);
    if (!part || fclose(part) != 0) {
        free(bytes);
        return complain(EXIT_WRONG, model->path, "out of memory");
    }
    wire_put_head(stream, number, size);
    fwrite(bytes, 1, size, stream);
    free(bytes);
    return EXIT_DONE;
}

static int put_sparse(FILE *stream, const struct model *model, const struct model_tensor *tensor)
{
    uint64_t kept = 0;
    for (int64_t i = 0; i < tensor->stored; i++)
        kept += !model_is_pruned(tensor, i);
    int code = put_part(stream, model, tensor, ONNX_SPARSE_VALUES, kept, put_sparse_values);
    if (!code)
        code = put_part(stream, model, tensor, ONNX_SPARSE_INDICES, kept, put_sparse_indices);
    for (int d = 0; d < tensor->rank; d++)
        put_varint_field(stream, ONNX_SPARSE_DIMS, (uint64_t)tensor->dims[d]);
    return code;
}

static int make_edit(const struct model *model, const struct model_tensor *tensor,
                     struct edit *edit)
{
    int code = EXIT_DONE;
    *edit = (struct edit){ .span = tensor->span };
    FILE *const stream = open_memstream(&edit->bytes, &edit->size);
    if (stream && tensor->places)
        code = put_sparse(stream, model, tensor);
    else if (stream && is_in_image(model, tensor))
        put_in_place(stream, model, tensor);
    else if (stream)
        put_as_raw(stream, model, tensor);
    if (!stream || fclose(stream) != 0)
        return complain(EXIT_WRONG, model->path, "out of memory");
    return code;
}

static int by_place(const void *a, const void *b)
{
    const size_t x = ((const struct edit *)a)->span.begin;
    const size_t y = ((const struct edit *)b)->span.begin;
    return (x > y) - (x < y);
}

/* What other files held goes into this one, so that it needs them no more. */
static int make_edits(const struct model *model, struct edits *edits)
{
    int code = EXIT_DONE;
    edits->image = model->image;
    edits->items = calloc(model->tensor_count + 1, sizeof *edits->items);
    if (!edits->items)
        return complain(EXIT_WRONG, model->path, "out of memory");
    for (size_t i = 0; i < model->tensor_count && !code; i++) {
        const struct model_tensor *const tensor = &model->tensors[i];
        if (tensor->data && (tensor->is_external || model_is_changed(tensor)))
            code = make_edit(model, tensor, &edits->items[edits->count++]);
    }
    qsort(edits->items, edits->count, sizeof *edits->items, by_place);
    return code;
}

static void free_edits(struct edits *edits)
{
    for (size_t i = 0; i < edits->count; i++)
        free(edits->items[i].bytes);
    free(edits->items);
}

/* The first edit within the field, NULL if it stays as it is. */
static const struct edit *edit_in(const struct edits *edits, const struct wire_field *field)
{
    size_t low = 0, high = edits->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (edits->items[middle].span.begin < field->bytes.begin)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_in = field->type == WIRE_BYTES && low < edits->count &&
                       edits->items[low].span.end <= field->bytes.end;
    return is_in ? &edits->items[low] : NULL;
}

/* The edits lie a fixed few messages deep, so this does not go deeper either. */
static size_t size_of(const struct edits *edits, struct wire message)
{
    struct wire_field field;
    size_t size = 0;
    while (wire_next(&message, &field)) {
        const struct edit *const edit = edit_in(edits, &field);
        const size_t inner = !edit ? 0
                             : edit->span.begin == field.bytes.begin
                                 ? edit->size
                                 : size_of(edits, wire_of(edits->image, field.bytes));
        size += edit ? wire_head_size(field.number, inner) + inner
                     : field.whole.end - field.whole.begin;
    }
    return size;
}

static void put_message(FILE *stream, const struct edits *edits, struct wire message)
{
    struct wire_field field;
    while (wire_next(&message, &field)) {
        const struct edit *const edit = edit_in(edits, &field);
        const struct wire inner = wire_of(edits->image, field.bytes);
        if (!edit) {
            put_span(stream, edits->image, field.whole);
        } else if (edit->span.begin == field.bytes.begin) {
            wire_put_head(stream, field.number, edit->size);
            fwrite(edit->bytes, 1, edit->size, stream);
        } else {
            wire_put_head(stream, field.number, size_of(edits, inner));
            put_message(stream, edits, inner);
        }
    }
}

int onnx_write(const struct model *model, const char *path, FILE *stream)
{
    const struct wire top = wire_of(model->image, (struct model_span){ 0, model->size });
    struct edits edits;
    memset(&edits, 0, sizeof edits);
    int code = make_edits(model, &edits);
    if (!code && size_of(&edits, top) > INT32_MAX)
        code = complain(EXIT_REFUSED, path,
                        "would be larger than the 2 GB that a protocol buffer may have");
    if (!code)
        put_message(stream, &edits, top);
    free_edits(&edits);
    return code;
}
