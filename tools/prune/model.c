#include "prune/model.h"

#include "complain.h"

#include <stdlib.h>
#include <string.h>

static bool is_excluded(const struct prune_model *prune, const struct convolution *c,
                        const struct text_list *excluded)
{
    for (size_t i = 0; i < excluded->count; i++)
        if (convolution_has_name(prune->model, c, excluded->items[i]))
            return true;
    return false;
}

static int check_excluded(const struct prune_model *prune, const struct text_list *excluded)
{
    for (size_t i = 0; i < excluded->count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < prune->convolutions.count && !is_there; k++)
            is_there = convolution_has_name(prune->model, &prune->convolutions.items[k],
                                            excluded->items[i]);
        if (!is_there)
            return complain(EXIT_BAD, "--exclude", "%s has no convolution %s", prune->model->path,
                            excluded->items[i]);
    }
    return EXIT_DONE;
}

/* Tensors that no layer is made of (any more): those of excluded convolutions, and those taken. */
static void mark_excluded(const struct prune_model *prune, const struct text_list *excluded,
                          bool *is_taken)
{
    const struct convolution_list *const list = &prune->convolutions;
    for (size_t i = 0; i < list->count; i++)
        if (is_excluded(prune, &list->items[i], excluded))
            is_taken[list->items[i].weights] = true;
}

static int add_layer(struct prune_model *prune, size_t index, double sparsity)
{
    const struct convolution *const c = &prune->convolutions.items[index];
    const struct model_tensor *const tensor = &prune->model->tensors[c->weights];
    struct prune_layer *const layer = &prune->layers[prune->count];
    const int code = model_floats(prune->model, tensor, &layer->weights);
    if (code)
        return code;
    layer->name = c->name;
    layer->filters = tensor->dims[0];
    layer->channels = tensor->dims[1];
    layer->positions = tensor->dims[2] * tensor->dims[3];
    layer->sparsity = sparsity;
    prune->convolution[prune->count] = index;
    prune->count++;
    return prune_model_statistics(prune, prune->count - 1, &prune->before[prune->count - 1]);
}

static int add_layers(struct prune_model *prune, const struct text_list *excluded, double sparsity)
{
    const struct convolution_list *const list = &prune->convolutions;
    bool *const is_taken = calloc(prune->model->tensor_count + 1, sizeof *is_taken);
    prune->layers = calloc(list->count + 1, sizeof *prune->layers);
    prune->convolution = calloc(list->count + 1, sizeof *prune->convolution);
    prune->before = calloc(list->count + 1, sizeof *prune->before);
    if (!is_taken || !prune->layers || !prune->convolution || !prune->before) {
        free(is_taken);
        return complain(EXIT_WRONG, prune->model->path, "out of memory");
    }
    mark_excluded(prune, excluded, is_taken);
    int code = check_excluded(prune, excluded);
    for (size_t i = 0; i < list->count && !code; i++) {
        if (!is_taken[list->items[i].weights])
            code = add_layer(prune, i, sparsity);
        is_taken[list->items[i].weights] = true;
    }
    free(is_taken);
    if (!code && !prune->count)
        code = complain(EXIT_BAD, prune->model->path, "has no convolution to prune");
    return code;
}

int prune_model_make(struct model *model, const char *input_shape, const struct text_list *excluded,
                     double sparsity, struct prune_model *out)
{
    *out = (struct prune_model){ .model = model };
    int code = convolutions_of(model, input_shape, &out->convolutions);
    if (!code)
        code = add_layers(out, excluded, sparsity);
    if (code)
        prune_model_free(out);
    return code;
}

void prune_model_free(struct prune_model *prune)
{
    for (size_t i = 0; i < prune->count; i++)
        free(prune->layers[i].weights);
    free(prune->layers);
    free(prune->convolution);
    free(prune->before);
    convolution_list_free(&prune->convolutions);
    *prune = (struct prune_model){ 0 };
}

bool prune_model_has_name(const struct prune_model *prune, size_t layer, const char *name)
{
    return convolution_has_name(prune->model, &prune->convolutions.items[prune->convolution[layer]],
                                name);
}

int prune_model_statistics(const struct prune_model *prune, size_t layer,
                           struct filter_statistics *out)
{
    const struct prune_layer *const l = &prune->layers[layer];
    return filter_statistics_dense(prune->model->path, l->weights, l->filters,
                                   l->channels * l->positions, out);
}

int prune_model_finish(struct prune_model *prune, bool is_csr)
{
    for (size_t i = 0; i < prune->count; i++) {
        const struct convolution *const c = &prune->convolutions.items[prune->convolution[i]];
        struct model_tensor *const tensor = &prune->model->tensors[c->weights];
        float *const kept = arena_take(&prune->model->arena, (size_t)tensor->count, sizeof *kept);
        if (!kept)
            return complain(EXIT_WRONG, prune->model->path, "out of memory");
        memcpy(kept, prune->layers[i].weights, (size_t)tensor->count * sizeof *kept);
        tensor->pruned = kept;
        tensor->make_sparse = is_csr;
    }
    return EXIT_DONE;
}
