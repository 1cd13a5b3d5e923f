#include "problem/problem.h"

#include "complain.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_weights(struct problem_weights *weights)
{
    if (weights)
        free(weights->oihw);
    free(weights);
}

int problem_list_add(struct problem_list *list, const struct problem *problem)
{
    if (list->count == list->capacity) {
        const size_t larger = list->capacity ? 2 * list->capacity : 16;
        struct problem *items = realloc(list->items, larger * sizeof *items);
        if (!items) {
            free_weights(problem->weights);
            return complain(EXIT_WRONG, problem->name, "out of memory");
        }
        list->items = items;
        list->capacity = larger;
    }
    list->items[list->count++] = *problem;
    return EXIT_DONE;
}

void problem_list_clear(struct problem_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_weights(list->items[i].weights);
    free(list->items);
    *list = (struct problem_list){ 0 };
}

int problem_set_weights(struct problem *problem, const float *oihw, const char *digest)
{
    const csrconv_geometry *const g = &problem->geometry;
    const int64_t count = g->filters * (g->channels / g->groups) * g->kernel_h * g->kernel_w;
    struct problem_weights *const weights = calloc(1, sizeof *weights);
    int64_t zeros = 0;
    problem->weights = weights;
    if (!weights || !(weights->oihw = malloc((size_t)count * sizeof *weights->oihw)))
        return complain(EXIT_WRONG, problem->name, "no room for its weights");
    memcpy(weights->oihw, oihw, (size_t)count * sizeof *oihw);
    weights->count = count;
    snprintf(weights->digest, sizeof weights->digest, "%s", digest);
    for (int64_t i = 0; i < count; i++)
        zeros += oihw[i] == 0.0F;
    /* Below 1, as every sparsity is; times the count it rounds to the same zeros. */
    problem->sparsity = fmin((double)zeros / (double)count, nextafter(1.0, 0.0));
    return EXIT_DONE;
}

struct text {
    char *at;
    size_t left;
};

static void put(struct text *text, const char *key, int64_t value)
{
    const int length = snprintf(text->at, text->left, "%s%" PRId64, key, value);
    text->at += length;
    text->left -= (size_t)length;
}

/* One kind of size on both axes; that of w only where the axes differ in anything. */
static void put_pair(struct text *text, char kind, int64_t h, int64_t w, bool square)
{
    put(text, (const char[]){ kind, 'h', '\0' }, h);
    if (!square)
        put(text, (const char[]){ kind, 'w', '\0' }, w);
}

static bool is_square(const csrconv_geometry *g, int64_t out_h, int64_t out_w)
{
    return g->height == g->width && out_h == out_w && g->kernel_h == g->kernel_w &&
           g->stride_h == g->stride_w && g->pad_top == g->pad_left &&
           g->dilation_h == g->dilation_w;
}

void problem_format(const csrconv_geometry *g, char *text)
{
    struct text to = { text, PROBLEM_TEXT_SIZE };
    int64_t out_h = 0, out_w = 0;
    csrconv_output_size(g, &out_h, &out_w);
    const bool square = is_square(g, out_h, out_w);
    if (g->groups != 1)
        put(&to, "g", g->groups);
    put(&to, "mb", g->batch);
    put(&to, "ic", g->channels);
    put_pair(&to, 'i', g->height, g->width, square);
    put(&to, "oc", g->filters);
    put_pair(&to, 'o', out_h, out_w, square);
    put_pair(&to, 'k', g->kernel_h, g->kernel_w, square);
    if (g->stride_h != 1 || g->stride_w != 1)
        put_pair(&to, 's', g->stride_h, g->stride_w, square);
    put_pair(&to, 'p', g->pad_top, g->pad_left, square);
    if (g->dilation_h != 1 || g->dilation_w != 1)
        put_pair(&to, 'd', g->dilation_h - 1, g->dilation_w - 1, square);
}
