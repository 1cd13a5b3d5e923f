/* What shape rules and computations need of a node beside its attributes. */
#ifndef CSRCONV_TOOLS_MODEL_NODE_H
#define CSRCONV_TOOLS_MODEL_NODE_H

#include "shapes.h"

/* "model.onnx: node conv1 (Conv): ...". A node without a name has that of its first output. */
int node_complain(const struct model *model, const struct model_node *node, int code,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * A list that later operator sets have as an input, and earlier ones as an attribute. False if it
 * is not there, too long, or not known before the graph runs.
 */
bool node_ints(const struct model *model, const struct model_node *node,
               const struct shapes *shapes, size_t input, const char *attribute,
               struct shape_ints *out);

/* An axis that may count from the end; false if there is none such. */
bool node_axis(int64_t axis, int rank, int *out);

#endif
