/* Which part of a graph has to run. */
#ifndef CSRCONV_TOOLS_MODEL_TARGET_H
#define CSRCONV_TOOLS_MODEL_TARGET_H

#include "model.h"

/* The value of that name, or the first output of the node of that name; NULL: the only output. */
int target_find(const struct model *model, const char *name, size_t *value);

/*
 * Marks what the target needs: values[value_count] and nodes[node_count] are all false before. Of
 * the constants those that are taken as floats.
 */
int target_mark(const struct model *model, size_t target, bool *values, bool *nodes);

/* The one graph input among the values, and that the tensor can be it. */
int target_input(const struct model *model, const bool *values, const char *name,
                 const struct tensor *tensor, size_t *value);

#endif
