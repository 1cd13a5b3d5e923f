/*
 * What the operators of a graph do: one table of name, shape rule and computation. An operator is
 * one line of the table in operators.c, and one or two functions in the file of its family.
 */
#ifndef CSRCONV_TOOLS_MODEL_OPERATOR_H
#define CSRCONV_TOOLS_MODEL_OPERATOR_H

#include "format/tensor.h"
#include "model.h"

/* A node at work. No tensor is empty, so a product of any of its sizes fits 64 bits. */
struct operation {
    const struct model *model;
    const struct model_node *node;
    /*
     * One for each input of the node: NULL if it is left out or taken as integers, which
     * operation_ints reads. A shape rule gets them without values.
     */
    const struct tensor **inputs;
    struct tensor output; /* the node's first one */
};

struct operator
{
    const char *name;
    size_t least, most; /* of the inputs; the first `least` are not left out */
    unsigned integers;  /* inputs that are no floats: bit i is of input i */
    /* Sets rank and dims of the output, having checked the inputs' shapes and the attributes. */
    int (*shape)(struct operation * operation);
    /* Fills the values of the output, for which there is room; NULL: the caller convolves. */
    int (*compute)(struct operation * operation);
};

/* Whether what is at that input is taken as floats. */
bool operator_takes_floats(const struct operator* operator, size_t input);

/* NULL if there is none of that name. */
const struct operator* operator_of(const struct model_node *node);

/* Calls the shape rule after a check of the number of inputs; EXIT_REFUSED: no such operator. */
int operation_shape(struct operation *operation);

/* "model.onnx: node conv1 (Conv): ...". */
int operation_complain(const struct operation *operation, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The input if the node has it, else NULL. */
const struct tensor *operation_input(const struct operation *operation, size_t index);

/* Complains unless that input has that rank. */
int operation_check_rank(const struct operation *operation, size_t index, int rank);

/* An axis of a rank, counted from its end if it is negative; complains if there is none such. */
int operation_axis(const struct operation *operation, int64_t axis, int rank, int *out);

/* The output gets the shape, or the shape of the first input. */
int operation_set_shape(struct operation *operation, int rank, const int64_t *dims);
int operation_same_shape(struct operation *operation);

/* Sizes, axes and such. */
struct operation_ints {
    int count; /* -1: not given */
    int64_t items[2 * TENSOR_MAX_RANK];
};

/* From the attribute of that name, or the constant at that input (MODEL_NONE: only from the one).
 */
int operation_ints(const struct operation *operation, const char *attribute, size_t input,
                   struct operation_ints *out);

/* The sizes before an axis and from there on: the lengths of an outer and an inner loop. */
int64_t tensor_outer(const struct tensor *tensor, int axis);
int64_t tensor_inner(const struct tensor *tensor, int axis);

#endif
