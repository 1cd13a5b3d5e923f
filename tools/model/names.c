#include "names.h"

#include "complain.h"

#include <stdlib.h>
#include <string.h>

void name_list_add(struct name_list *list, const char *name, size_t *slot)
{
    *slot = MODEL_NONE;
    if (*name)
        list->items[list->count++] = (struct name_use){ name, slot };
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct name_use *)a)->name, ((const struct name_use *)b)->name);
}

static int no_memory(const struct model *model)
{
    return complain(EXIT_WRONG, model->path, "out of memory");
}

int names_resolve(struct model *model, struct name_list *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    size_t distinct = 0;
    for (size_t i = 0; i < list->count; i++)
        distinct += i == 0 || by_name(&list->items[i - 1], &list->items[i]) != 0;
    model->values = arena_take(&model->arena, distinct, sizeof *model->values);
    if (!model->values)
        return no_memory(model);
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || by_name(&list->items[i - 1], &list->items[i]) != 0)
            model->values[model->value_count++] =
                (struct model_value){ list->items[i].name, MODEL_NONE, MODEL_NONE };
        *list->items[i].slot = model->value_count - 1;
    }
    return EXIT_DONE;
}

static int note_makers(struct model *model)
{
    for (size_t i = 0; i < model->node_count; i++) {
        const struct model_node *const node = &model->nodes[i];
        for (size_t k = 0; k < node->output_count; k++) {
            if (node->outputs[k] == MODEL_NONE)
                continue;
            struct model_value *const value = &model->values[node->outputs[k]];
            if (value->node != MODEL_NONE || value->tensor != MODEL_NONE)
                return complain(EXIT_BAD, model->path, "two things make the value %s", value->name);
            value->node = i;
        }
    }
    for (size_t i = 0; i < model->input_count; i++)
        if (model->values[model->inputs[i].value].node != MODEL_NONE)
            return complain(EXIT_BAD, model->path, "two things make the value %s",
                            model->values[model->inputs[i].value].name);
    return EXIT_DONE;
}

/* The node that makes an input of a node, or MODEL_NONE. */
static size_t maker(const struct model *model, const struct model_node *node, size_t input)
{
    return node->inputs[input] == MODEL_NONE ? MODEL_NONE : model->values[node->inputs[input]].node;
}

static bool is_ordered(const struct model *model)
{
    for (size_t i = 0; i < model->node_count; i++)
        for (size_t k = 0; k < model->nodes[i].input_count; k++) {
            const size_t before = maker(model, &model->nodes[i], k);
            if (before != MODEL_NONE && before >= i)
                return false;
        }
    return true;
}

/* Who waits for whom: readers[starts[i]] to readers[starts[i + 1] - 1] read what node i makes. */
struct waiting {
    size_t *starts, *readers; /* node_count + 2, and as many as there are inputs */
    size_t *missing;          /* inputs of each node that are not made yet */
    size_t *order;
};

static bool waiting_make(struct model *model, struct waiting *w)
{
    size_t inputs = 0;
    for (size_t i = 0; i < model->node_count; i++)
        inputs += model->nodes[i].input_count;
    w->starts = arena_take(&model->arena, model->node_count + 2, sizeof *w->starts);
    w->missing = arena_take(&model->arena, model->node_count, sizeof *w->missing);
    w->order = arena_take(&model->arena, model->node_count, sizeof *w->order);
    w->readers = arena_take(&model->arena, inputs, sizeof *w->readers);
    return w->starts && w->missing && w->order && w->readers;
}

static void waiting_fill(const struct model *model, struct waiting *w)
{
    for (size_t i = 0; i < model->node_count; i++)
        for (size_t k = 0; k < model->nodes[i].input_count; k++) {
            const size_t before = maker(model, &model->nodes[i], k);
            if (before == MODEL_NONE)
                continue;
            w->missing[i]++;
            w->starts[before + 2]++;
        }
    for (size_t i = 2; i < model->node_count + 2; i++)
        w->starts[i] += w->starts[i - 1];
    for (size_t i = 0; i < model->node_count; i++)
        for (size_t k = 0; k < model->nodes[i].input_count; k++) {
            const size_t before = maker(model, &model->nodes[i], k);
            if (before != MODEL_NONE)
                w->readers[w->starts[before + 1]++] = i;
        }
}

/* Kahn's algorithm; returns how many nodes can be run. */
static size_t settle_order(const struct model *model, struct waiting *w)
{
    size_t settled = 0;
    for (size_t i = 0; i < model->node_count; i++)
        if (!w->missing[i])
            w->order[settled++] = i;
    for (size_t done = 0; done < settled; done++)
        for (size_t r = w->starts[w->order[done]]; r < w->starts[w->order[done] + 1]; r++)
            if (--w->missing[w->readers[r]] == 0)
                w->order[settled++] = w->readers[r];
    return settled;
}

static int refuse_cycle(const struct model *model, const struct waiting *w)
{
    size_t i = 0;
    while (!w->missing[i])
        i++;
    return complain(EXIT_BAD, model->path, "the graph has a cycle, at node %zu (%s) or before it",
                    i, model->nodes[i].op);
}

static int reorder(struct model *model, const struct waiting *w)
{
    struct model_node *const nodes =
        arena_take(&model->arena, model->node_count, sizeof *model->nodes);
    if (!nodes)
        return no_memory(model);
    for (size_t i = 0; i < model->node_count; i++) {
        nodes[i] = model->nodes[w->order[i]];
        for (size_t k = 0; k < nodes[i].output_count; k++)
            if (nodes[i].outputs[k] != MODEL_NONE)
                model->values[nodes[i].outputs[k]].node = i;
    }
    model->nodes = nodes;
    return EXIT_DONE;
}

int graph_order(struct model *model)
{
    struct waiting waiting;
    const int code = note_makers(model);
    if (code || is_ordered(model))
        return code;
    if (!waiting_make(model, &waiting))
        return no_memory(model);
    waiting_fill(model, &waiting);
    if (settle_order(model, &waiting) < model->node_count)
        return refuse_cycle(model, &waiting);
    return reorder(model, &waiting);
}
