/* The names of a graph: which are the same value, who makes it, and an order to run the nodes in.
 */
#ifndef CSRCONV_TOOLS_MODEL_NAMES_H
#define CSRCONV_TOOLS_MODEL_NAMES_H

#include "model.h"

/* A place that names a value, and where the value's index is to go. */
struct name_use {
    const char *name;
    size_t *slot;
};

struct name_list {
    struct name_use *items;
    size_t count;
};

/* Adds a use; an empty name is none at all, and the slot gets MODEL_NONE. The list has room. */
void name_list_add(struct name_list *list, const char *name, size_t *slot);

/* Makes the values of all names, sorted by name, and fills the slots. */
int names_resolve(struct model *model, struct name_list *list);

/*
 * Tells each value its node, and sorts the nodes so that each stands after those that make its
 * inputs; those that stand so already keep their order. Refuses a value that two nodes make, or a
 * node and a constant or graph input, and cycles.
 */
int graph_order(struct model *model);

#endif
