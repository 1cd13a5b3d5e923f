/*
 * Everything but N:M comes to the library's own pruning of one array. Magnitude and random have the
 * weights themselves in it; blocks have, for each of their weights, the mean magnitude of the block
 * instead, and a block goes if most of its places went.
 */
#include "prune/method.h"

#include "complain.h"
#include "csrconv.h"
#include "number.h"
#include "selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int parse_numbers(const char *text, const char *numbers, struct prune_method *out)
{
    enum { MOST = 1024 };
    char *const copy = strdup(numbers);
    if (!copy)
        return complain(EXIT_WRONG, "--method", "out of memory");
    char *const colon = out->kind == PRUNE_NM ? strchr(copy, ':') : copy - 1;
    int code = EXIT_DONE;
    if (!colon)
        code = complain(EXIT_BAD, "--method", "\"%s\" is not nm:N:M", text);
    if (!code)
        code = number_whole("--method", colon + 1, 1, MOST, &out->of);
    if (!code && out->kind == PRUNE_NM) {
        *colon = '\0';
        code = number_whole("--method", copy, 1, out->of, &out->keep);
    }
    free(copy);
    return code;
}

int prune_method_parse(const char *text, struct prune_method *out)
{
    static const char *const plain[] = {
        [PRUNE_MAGNITUDE] = "magnitude", [PRUNE_RANDOM] = "random", [PRUNE_KERNEL] = "kernel"
    };
    *out = (struct prune_method){ .kind = PRUNE_MAGNITUDE };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i] && strcmp(text, plain[i]) == 0) {
            out->kind = (enum prune_kind)i;
            return EXIT_DONE;
        }
    if (strncmp(text, "nm:", 3) == 0) {
        out->kind = PRUNE_NM;
        return parse_numbers(text, text + 3, out);
    }
    if (strncmp(text, "vector:", 7) == 0) {
        out->kind = PRUNE_VECTOR;
        return parse_numbers(text, text + 7, out);
    }
    return complain(EXIT_BAD, "--method",
                    "\"%s\" is not magnitude, random, nm:N:M, kernel or vector:V", text);
}

static int64_t columns_of(const struct prune_layer *layer)
{
    return layer->channels * layer->positions;
}

int64_t prune_layer_size(const struct prune_layer *layer)
{
    return layer->filters * columns_of(layer);
}

int64_t prune_layer_zeros(const struct prune_layer *layer)
{
    const int64_t size = prune_layer_size(layer);
    int64_t zeros = 0;
    for (int64_t i = 0; i < size; i++)
        zeros += layer->weights[i] == 0.0F;
    return zeros;
}

/* The weights of a block: `count` of them, `stride` apart. */
struct block {
    float *first;
    int64_t count, stride;
};

static int64_t block_count(const struct prune_method *method, const struct prune_layer *layer)
{
    if (method->kind == PRUNE_KERNEL)
        return layer->filters * layer->channels;
    return (layer->filters + method->of - 1) / method->of * columns_of(layer);
}

static struct block block_at(const struct prune_method *method, const struct prune_layer *layer,
                             int64_t index)
{
    const int64_t columns = columns_of(layer);
    if (method->kind == PRUNE_KERNEL)
        return (struct block){ layer->weights + index * layer->positions, layer->positions, 1 };
    const int64_t filter = index / columns * method->of, left = layer->filters - filter;
    return (struct block){ layer->weights + filter * columns + index % columns,
                           left < method->of ? left : method->of, columns };
}

static float mean_magnitude(struct block block)
{
    double sum = 0.0;
    for (int64_t i = 0; i < block.count; i++)
        sum += fabs((double)block.first[i * block.stride]);
    return (float)(sum / (double)block.count);
}

/* Writes the places of a layer in the common array, and returns their end. */
static float *put_layer(const struct prune_method *method, const struct prune_layer *layer,
                        float *at)
{
    const int64_t size = prune_layer_size(layer);
    if (method->kind == PRUNE_MAGNITUDE || method->kind == PRUNE_RANDOM) {
        memcpy(at, layer->weights, (size_t)size * sizeof *at);
        return at + size;
    }
    for (int64_t b = 0; b < block_count(method, layer); b++) {
        const struct block block = block_at(method, layer, b);
        const float score = mean_magnitude(block);
        for (int64_t i = 0; i < block.count; i++)
            *at++ = score;
    }
    return at;
}

static const float *take_block(struct block block, const float *at)
{
    int64_t gone = 0;
    for (int64_t i = 0; i < block.count; i++)
        gone += at[i] == 0.0F;
    for (int64_t i = 0; i < block.count && 2 * gone > block.count; i++)
        block.first[i * block.stride] = 0.0F;
    return at + block.count;
}

/* Takes over what was pruned of them. */
static const float *take_layer(const struct prune_method *method, struct prune_layer *layer,
                               const float *at)
{
    const int64_t size = prune_layer_size(layer);
    if (method->kind == PRUNE_MAGNITUDE || method->kind == PRUNE_RANDOM) {
        memcpy(layer->weights, at, (size_t)size * sizeof *at);
        return at + size;
    }
    for (int64_t b = 0; b < block_count(method, layer); b++)
        at = take_block(block_at(method, layer, b), at);
    return at;
}

int prune_together(const struct prune_method *method, uint64_t seed, double sparsity,
                   struct prune_layer *layers, size_t count)
{
    int64_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += layers[i].sparsity < 0.0 ? 0 : prune_layer_size(&layers[i]);
    float *const all = malloc(((size_t)size + 1) * sizeof *all);
    if (!all)
        return complain(EXIT_WRONG, "prune", "no room for the weights of all layers");
    float *end = all;
    for (size_t i = 0; i < count; i++)
        if (layers[i].sparsity >= 0.0)
            end = put_layer(method, &layers[i], end);
    const csrconv_status status = method->kind == PRUNE_RANDOM
                                      ? csrconv_prune_random(all, size, sparsity, seed)
                                      : csrconv_prune_magnitude(all, size, sparsity);
    const float *at = all;
    for (size_t i = 0; i < count && !status; i++)
        if (layers[i].sparsity >= 0.0)
            at = take_layer(method, &layers[i], at);
    free(all);
    return status ? selection_complain("prune", status) : EXIT_DONE;
}

/* Zeroes the smallest of a group until `keep` are left; of equal ones the first go. */
static void keep_largest(struct block group, int64_t keep)
{
    int64_t left = 0;
    for (int64_t i = 0; i < group.count; i++)
        left += group.first[i * group.stride] != 0.0F;
    for (; left > keep; left--) {
        float *least = NULL;
        for (int64_t i = 0; i < group.count; i++) {
            float *const weight = group.first + i * group.stride;
            if (*weight != 0.0F && (!least || fabsf(*weight) < fabsf(*least)))
                least = weight;
        }
        *least = 0.0F;
    }
}

static void prune_nm(const struct prune_method *method, struct prune_layer *layer)
{
    for (int64_t m = 0; m < layer->filters; m++)
        for (int64_t c = 0; c < layer->channels; c += method->of)
            for (int64_t p = 0; p < layer->positions; p++) {
                const int64_t left = layer->channels - c;
                keep_largest((struct block){ layer->weights + m * columns_of(layer) +
                                                 c * layer->positions + p,
                                             left < method->of ? left : method->of,
                                             layer->positions },
                             method->keep);
            }
}

int prune_each(const struct prune_method *method, uint64_t seed, struct prune_layer *layers,
               size_t count)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < count && !code; i++) {
        if (layers[i].sparsity < 0.0)
            continue;
        if (method->kind == PRUNE_NM)
            prune_nm(method, &layers[i]);
        else
            code = prune_together(method, seed + i, layers[i].sparsity, &layers[i], 1);
    }
    return code;
}
