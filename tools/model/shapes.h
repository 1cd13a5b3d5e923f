/* The shapes of all values of a graph, as far as they follow from those of its inputs. */
#ifndef CSRCONV_TOOLS_MODEL_SHAPES_H
#define CSRCONV_TOOLS_MODEL_SHAPES_H

#include "model.h"

/* Sizes, axes and such: a scalar or a vector. */
enum { SHAPE_MOST_INTS = 2 * TENSOR_MAX_RANK };
struct shape_ints {
    bool is_known;
    int rank;
    size_t count;
    int64_t items[SHAPE_MOST_INTS];
};

struct shapes {
    struct model_shape *of;  /* by value; a rank of -1: not known, else all sizes are */
    struct shape_ints *ints; /* by value: what nodes compute of shapes */
    char why[256];           /* the first thing that made some unknown; "" */
};

/*
 * `given` replaces the declared shapes of inputs: "N,C,H,W" of the only one, or "NAME:N,C,H,W;...";
 * NULL: none. A batch that is not declared is 1. EXIT_BAD if shapes contradict one another.
 */
int shapes_make(const struct model *model, const char *given, struct shapes *out);

/* The same with that shape of one input. */
int shapes_make_of(const struct model *model, size_t input, const struct model_shape *shape,
                   struct shapes *out);

void shapes_free(struct shapes *shapes);

/* One node, while its outputs' shapes are found. */
struct shape_step {
    const struct model *model;
    const struct model_node *node;
    const struct shapes *shapes;
    struct model_shape out; /* of the first output; rank -1: not known */
};

/* Returns an exit_code and complains. */
typedef int shape_rule(struct shape_step *step);

#endif
