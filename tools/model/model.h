/*
 * A model file in memory: its tensors, and for a format that has a graph the nodes in an order in
 * which they can be run.
 *
 *     tensors    what the file stores: weights, and other constants; always all of them
 *     values     what flows: one per name that nodes read or write; a value is a tensor (constant),
 *                a graph input, or the output of a node
 *     nodes      operators with attributes; inputs and outputs are indices of values
 *     inputs     graph inputs that are no constants, with their declared shapes
 *     outputs    values that the graph gives out
 *
 * The file's bytes stay in `image`: tensors point into them, and a writer copies from them whatever
 * was not changed, so that it comes back to the byte. Everything is owned by the struct model.
 *
 * Functions that can fail return an exit_code and complain.
 */
#ifndef CSRCONV_TOOLS_MODEL_MODEL_H
#define CSRCONV_TOOLS_MODEL_MODEL_H

#include "arena.h"
#include "format/file.h"
#include "format/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An index that stands for none: a node of a constant, an optional input that is left out. */
#define MODEL_NONE SIZE_MAX

/* The types whose elements are looked at; all others are bytes that are kept. */
enum model_dtype { MODEL_OTHER, MODEL_F16, MODEL_BF16, MODEL_F32, MODEL_F64, MODEL_I32, MODEL_I64 };

/* Bytes from begin to end of the image. */
struct model_span {
    size_t begin, end;
};

struct model_tensor {
    const char *name;
    enum model_dtype dtype;
    const char *dtype_name; /* as the file calls it: "F32", "FLOAT16" */
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    int64_t count; /* the product of dims */

    /*
     * The stored elements, little-endian, without gaps, in the image or not; NULL where dtype is
     * MODEL_OTHER in ONNX, unless they come from another file. Dense: `count` of them in C order.
     * Sparse: `stored` of them, the others are zero, and places[i] is where element i stands in C
     * order, ascending.
     */
    const uint8_t *data;
    size_t bytes; /* of data */
    int64_t stored;
    const int64_t *places; /* NULL: dense */

    const float *pruned; /* `count` values, each the file's or zero, to be written; or NULL */
    bool is_external;    /* its data came from another file */
    bool make_sparse;    /* it is to be written as CSR */

    /* Where the writer of its format finds it: what they mean is that format's own. */
    struct model_span span;
    struct model_span parts[3]; /* of a CSR tensor: indptr, indices, values */
};

enum model_attribute_kind {
    MODEL_ATTRIBUTE_OTHER, /* a kind that no operator here needs: graphs, sparse tensors, lists */
    MODEL_ATTRIBUTE_INT,
    MODEL_ATTRIBUTE_FLOAT,
    MODEL_ATTRIBUTE_STRING,
    MODEL_ATTRIBUTE_INTS,
    MODEL_ATTRIBUTE_FLOATS,
    MODEL_ATTRIBUTE_TENSOR
};

struct model_attribute {
    const char *name;
    enum model_attribute_kind kind;
    union {
        int64_t i;
        float f;
        const char *s;
        const int64_t *ints;
        const float *floats;
        size_t tensor; /* an index of tensors */
    };
    size_t count; /* of ints and floats */
};

struct model_node {
    const char *name;               /* "" if it has none */
    const char *op;                 /* "Conv" */
    const char *domain;             /* "" is ONNX's own */
    const size_t *inputs, *outputs; /* values; MODEL_NONE where an optional one is left out */
    size_t input_count, output_count;
    const struct model_attribute *attributes;
    size_t attribute_count;
};

struct model_value {
    const char *name;
    size_t tensor; /* its constant, or MODEL_NONE */
    size_t node;   /* that makes it, or MODEL_NONE for constants and graph inputs */
};

/* A size of -1 is not declared (or has only a name, such as "batch"); a rank of -1: nothing is. */
struct model_shape {
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
};

struct model_input {
    size_t value;
    struct model_shape shape;
};

struct model_format;

struct model {
    const char *path; /* as it was given */
    const struct model_format *format;
    uint8_t *image;
    size_t size;
    size_t other_size; /* of the files of external data */

    struct model_tensor *tensors;
    size_t tensor_count;
    bool has_graph; /* if not, all below is empty */
    struct model_value *values;
    size_t value_count;
    struct model_node *nodes; /* every node stands after those that make its inputs */
    size_t node_count;
    struct model_input *inputs;
    size_t input_count;
    size_t *outputs;
    size_t output_count;

    int64_t ir_version, opset; /* of ONNX, and of its own domain */
    const char *producer;      /* "" if not told */

    struct arena arena; /* of all of the above but the image */
};

/* Formats: each is one constant, model_format_NAME in NAME.c, and one name in meson.build. */
struct model_format {
    const char *name;
    const char *extension; /* such as ".onnx" */

    /* Whether the file can be of this format, by its first 16 bytes, or fewer if it is shorter. */
    bool (*probe)(const uint8_t *data, size_t size);

    /*
     * Fills a model of which path, format, image and size are set. Memory taken is within a factor
     * of the size of the file and of the files of external data that it names, whatever it claims.
     */
    int (*read)(struct model *model);

    /* Writes the bytes of the file again, with what `pruned` of its tensors changes. */
    int (*write)(const struct model *model, const char *path, FILE *stream);
};

/* Ended by NULL. */
extern const struct model_format *const model_formats[];

/* The format of a file's first bytes, NULL if it is no model. */
const struct model_format *model_format_of(const uint8_t *data, size_t size);

/* NULL if there is none of that name. */
const struct model_format *model_format_named(const char *name);

/* Reads a model file. *out is the caller's to model_free, and clear after a failure. */
int model_read(const char *path, struct model *out);

/* The same of a file that was begun, whose owner frees it. */
int model_read_begun(const char *path, struct file *file, struct model *out);

/* The same of a file that is in memory; takes over the image, which came from malloc, in any case.
 */
int model_read_memory(const char *path, uint8_t *image, size_t size, struct model *out);

void model_free(struct model *model);

/* NULL if the node has no such attribute of that kind. */
const struct model_attribute *model_attribute(const struct model_node *node, const char *name,
                                              enum model_attribute_kind kind);
int64_t model_attribute_int(const struct model_node *node, const char *name, int64_t otherwise);
float model_attribute_float(const struct model_node *node, const char *name, float otherwise);
const char *model_attribute_string(const struct model_node *node, const char *name,
                                   const char *otherwise);

/* The value at an input of a node: MODEL_NONE if it is left out. */
size_t model_node_input(const struct model_node *node, size_t index);

/* The constant at an input of a node, also behind a few Identity nodes; NULL if none. */
const struct model_tensor *model_constant_input(const struct model *model,
                                                const struct model_node *node, size_t index);

/* Whether the elements are floats of any width, or integers. */
bool model_is_float(const struct model_tensor *tensor);
bool model_is_integer(const struct model_tensor *tensor);

/*
 * Whether a tensor that may be larger than what the file has of it, being sparse or used again, may
 * be taken beside those before it, whose elements *taken counts. A few bytes could ask for any
 * memory and time otherwise.
 */
int model_allow(const struct model *model, const struct model_tensor *tensor, int64_t *taken);

/* All `count` elements as floats, zeros and pruned ones included, to be freed; EXIT_BAD if none. */
int model_floats(const struct model *model, const struct model_tensor *tensor, float **out);

/* Element i of a dense tensor of integers. */
int64_t model_integer(const struct model_tensor *tensor, int64_t i);

/* Whether stored element i is one that was pruned away: not zero in the file, zero from now on. */
bool model_is_pruned(const struct model_tensor *tensor, int64_t i);

/* Whether any is. */
bool model_is_changed(const struct model_tensor *tensor);

/* Whether a sparse tensor made of this one has stored element i: one that is not zero, or a zero
 * that was stored before. */
bool model_is_kept(const struct model_tensor *tensor, int64_t i);

/* For writers: the stored elements of a dense tensor as they are from now on. */
void model_put_elements(const struct model_tensor *tensor, FILE *stream);

/* Bytes of an element; 0 for MODEL_OTHER. */
int model_dtype_size(enum model_dtype dtype);

#endif
