#include "model_harness.h"

#include "complain.h"
#include "model/convolutions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No such folder: external data of any name is not there. */
static const char path[] = "/csrconv-fuzz/INPUT";

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s (%s)\n", what, complaint());
    abort();
}

static void require_refusal(int code)
{
    require(code == EXIT_BAD || code == EXIT_REFUSED, "an exit code that is not of a bad file");
    require(complaint()[0] != '\0' && !strchr(complaint(), '\n'), "a refusal without its line");
}

static int read_copy(const uint8_t *data, size_t size, struct model *model)
{
    uint8_t *const copy = malloc(size + 1);
    require(copy != NULL, "no memory");
    memcpy(copy, data, size);
    return model_read_memory(path, copy, size, model);
}

static void check_node(const struct model *model, size_t index)
{
    const struct model_node *const node = &model->nodes[index];
    for (size_t k = 0; k < node->input_count; k++) {
        const size_t value = node->inputs[k];
        require(value == MODEL_NONE || value < model->value_count, "an input is no value");
        require(value == MODEL_NONE || model->values[value].node == MODEL_NONE ||
                    model->values[value].node < index,
                "a node stands before its inputs");
    }
    for (size_t k = 0; k < node->output_count; k++)
        require(node->outputs[k] == MODEL_NONE || model->values[node->outputs[k]].node == index,
                "an output is not its node's");
}

static void check_tensor(const struct model *model, const struct model_tensor *tensor)
{
    volatile double sum = 0.0; /* so that every element is read */
    float *values;
    if (model_is_integer(tensor) && !tensor->places)
        for (int64_t i = 0; i < tensor->count; i++)
            sum = sum + (double)model_integer(tensor, i);
    if (!model_is_float(tensor))
        return;
    require(model_floats(model, tensor, &values) == EXIT_DONE, "a tensor has no elements");
    for (int64_t i = 0; i < tensor->count; i++)
        sum = sum + (double)values[i];
    free(values);
}

static void check_model(const struct model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        check_tensor(model, &model->tensors[i]);
    for (size_t i = 0; i < model->node_count; i++)
        check_node(model, i);
}

struct written {
    char *bytes;
    size_t size;
};

static int write_model(const struct model *model, const char *format, struct written *out)
{
    *out = (struct written){ NULL, 0 };
    FILE *const stream = open_memstream(&out->bytes, &out->size);
    require(stream != NULL, "no memory stream");
    const int code = model_format_named(format)->write(model, "OUTPUT", stream);
    require(fclose(stream) == 0, "no memory");
    return code;
}

static void check_same_bytes(const struct model *model)
{
    struct written written;
    require(write_model(model, model->format->name, &written) == EXIT_DONE,
            "what was read is not written");
    require(written.size == model->size && memcmp(written.bytes, model->image, model->size) == 0,
            "an unchanged model came back changed");
    free(written.bytes);
}

/* Every third weight goes. */
static void prune(struct model *model, const struct convolution_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct model_tensor *const tensor = &model->tensors[list->items[i].weights];
        float *values, *kept;
        if (tensor->pruned)
            continue;
        require(model_floats(model, tensor, &values) == EXIT_DONE, "weights have no elements");
        kept = arena_take(&model->arena, (size_t)tensor->count, sizeof *kept);
        require(kept != NULL, "no memory");
        for (int64_t k = 0; k < tensor->count; k++)
            kept[k] = k % 3 ? values[k] : 0.0F;
        tensor->pruned = kept;
        free(values);
    }
}

static bool same_floats(const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (a[i] < b[i] || a[i] > b[i] || (a[i] == a[i]) != (b[i] == b[i]))
            return false;
    return true;
}

static size_t tensor_named(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (strcmp(model->tensors[i].name, name) == 0)
            return i;
    return MODEL_NONE;
}

static void check_same_weights(const struct model *model, const struct model_tensor *tensor,
                               const struct model *again)
{
    const size_t index = tensor_named(again, tensor->name);
    float *want = NULL, *got = NULL;
    require(index != MODEL_NONE && again->tensors[index].count == tensor->count,
            "a tensor is lost or has another size");
    require(model_floats(model, tensor, &want) == EXIT_DONE &&
                model_floats(again, &again->tensors[index], &got) == EXIT_DONE,
            "a tensor has no elements");
    require(same_floats(want, got, tensor->count), "other weights came back");
    free(want);
    free(got);
}

static bool is_only_one(const struct model *model, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        count += strcmp(model->tensors[i].name, name) == 0;
    return count == 1;
}

/* Names that end like the parts of a sparse tensor may be taken for one. */
static void check_pruned(struct model *model, const struct convolution_list *list,
                         const char *format)
{
    struct written written;
    struct model again;
    const int code = write_model(model, format, &written);
    if (code) {
        require_refusal(code);
        free(written.bytes);
        return;
    }
    require(read_copy((const uint8_t *)written.bytes, written.size, &again) == EXIT_DONE,
            "what was written is not read");
    for (size_t i = 0; i < list->count; i++) {
        const struct model_tensor *const tensor = &model->tensors[list->items[i].weights];
        if (is_only_one(model, tensor->name))
            check_same_weights(model, tensor, &again);
    }
    model_free(&again);
    free(written.bytes);
}

static void check_convolutions(struct model *model)
{
    struct convolution_list list;
    float *weights, *bias;
    const int code = convolutions_of(model, NULL, &list);
    if (code) {
        require_refusal(code);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        require(convolution_weights(model, &list.items[i], true, &weights, &bias) == EXIT_DONE,
                "a convolution has no weights");
        free(weights);
        free(bias);
    }
    prune(model, &list);
    check_pruned(model, &list, model->format->name);
    for (size_t i = 0; i < list.count; i++)
        model->tensors[list.items[i].weights].make_sparse = true;
    check_pruned(model, &list, "safetensors");
    convolution_list_free(&list);
}

void fuzz_model(const char *format, const uint8_t *data, size_t size)
{
    struct model model;
    complain_clear();
    if (model_format_of(data, size) != model_format_named(format))
        return;
    const int code = read_copy(data, size, &model);
    if (code) {
        require(code == EXIT_BAD, "an exit code that is not of a bad file");
        require(strncmp(complaint(), path, strlen(path)) == 0, "a refusal without its file");
        require_refusal(code);
        require(!model.image && !model.arena.blocks, "a refusal that left memory");
        return;
    }
    check_model(&model);
    check_same_bytes(&model);
    check_convolutions(&model);
    model_free(&model);
}
