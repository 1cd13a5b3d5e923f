/*
 * Integers that a graph computes from shapes, as exported models do to flatten a batch of any size:
 * Shape, then Gather, Unsqueeze, Concat and so on, to the shape that a Reshape takes.
 */
#ifndef CSRCONV_TOOLS_MODEL_SHAPE_VALUES_H
#define CSRCONV_TOOLS_MODEL_SHAPE_VALUES_H

#include "shapes.h"

/* The integers of a value, a constant's or computed ones; false if they are not known. */
bool shape_values_of(const struct model *model, const struct shapes *shapes, size_t value,
                     struct shape_ints *out);

/* If the node computes some of what is known, sets shape and integers of its output. */
bool shape_values_follow(const struct model *model, const struct model_node *node,
                         struct shapes *shapes);

#endif
