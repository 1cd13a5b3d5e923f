/*
 * What the operators of a graph do: one table of name, shape rule and computation. An operator is
 * one line of the table in operators.c, and one or two functions.
 */
#ifndef CSRCONV_TOOLS_MODEL_OPERATOR_H
#define CSRCONV_TOOLS_MODEL_OPERATOR_H

#include "format/tensor.h"
#include "shapes.h"

/*
 * A node at work. Its inputs are arrays of floats; one that is left out, or that node_ints reads,
 * is NULL. No array is empty, so that any product of sizes of one fits 64 bits.
 */
struct operation {
    const struct model *model;
    const struct model_node *node;
    const struct shapes *shapes; /* for node_ints */
    const struct tensor **inputs;
    struct tensor output; /* the node's first one, of the shape that the rule gives */
};

/*
 * Fills the output. Checks what the shape rule has not: what it relies on of the inputs beyond the
 * first ones and of the attributes. Returns an exit_code and complains.
 */
typedef int operator_compute(const struct operation *operation);

struct operator_entry {
    const char *name;
    shape_rule *shape;
    operator_compute *compute; /* NULL: only the shape is known */
    size_t least, most;        /* inputs of a node that is computed; the first ones are all there */
    unsigned integers;         /* of them, those that node_ints reads: bit i is of input i */
};

/* NULL if there is none of that name. */
const struct operator_entry *operator_of(const struct model_node *node);

/* Whether what is at that input is taken as floats. */
bool operator_takes_floats(const struct operator_entry *op, size_t input);

/* The input if the node has it, else NULL. */
const struct tensor *operation_input(const struct operation *operation, size_t index);

int operation_complain(const struct operation *operation, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Complains unless the first input has so many dimensions. */
int operation_check_rank(const struct operation *operation, int least, int most);

/* The sizes before an axis, and those from it on: the lengths of an outer and an inner loop. */
int64_t tensor_outer(const struct tensor *tensor, int axis);
int64_t tensor_inner(const struct tensor *tensor, int axis);

#endif
