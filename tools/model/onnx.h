/*
 * The parts of the ONNX reader and writer. Field numbers are those of onnx.proto, whose messages
 * are Model > Graph > Node > Attribute > Tensor.
 */
#ifndef CSRCONV_TOOLS_MODEL_ONNX_H
#define CSRCONV_TOOLS_MODEL_ONNX_H

#include "wire.h"

enum onnx_model_field { ONNX_IR_VERSION = 1, ONNX_PRODUCER = 2, ONNX_GRAPH = 7, ONNX_OPSET = 8 };

enum onnx_opset_field { ONNX_OPSET_DOMAIN = 1, ONNX_OPSET_VERSION = 2 };

enum onnx_graph_field {
    ONNX_NODE = 1,
    ONNX_INITIALIZER = 5,
    ONNX_INPUT = 11,
    ONNX_OUTPUT = 12,
    ONNX_SPARSE_INITIALIZER = 15
};

enum onnx_node_field {
    ONNX_NODE_INPUT = 1,
    ONNX_NODE_OUTPUT = 2,
    ONNX_NODE_NAME = 3,
    ONNX_NODE_OP = 4,
    ONNX_NODE_ATTRIBUTE = 5,
    ONNX_NODE_DOMAIN = 7
};

enum onnx_attribute_field {
    ONNX_ATTRIBUTE_NAME = 1,
    ONNX_ATTRIBUTE_F = 2,
    ONNX_ATTRIBUTE_I = 3,
    ONNX_ATTRIBUTE_S = 4,
    ONNX_ATTRIBUTE_T = 5,
    ONNX_ATTRIBUTE_FLOATS = 7,
    ONNX_ATTRIBUTE_INTS = 8,
    ONNX_ATTRIBUTE_TYPE = 20
};

enum onnx_tensor_field {
    ONNX_DIMS = 1,
    ONNX_DATA_TYPE = 2,
    ONNX_FLOAT_DATA = 4,
    ONNX_INT32_DATA = 5,
    ONNX_INT64_DATA = 7,
    ONNX_TENSOR_NAME = 8,
    ONNX_RAW_DATA = 9,
    ONNX_DOUBLE_DATA = 10,
    ONNX_EXTERNAL_DATA = 13,
    ONNX_DATA_LOCATION = 14
};

enum onnx_sparse_field { ONNX_SPARSE_VALUES = 1, ONNX_SPARSE_INDICES = 2, ONNX_SPARSE_DIMS = 3 };

enum onnx_type { ONNX_TYPE_FLOAT = 1, ONNX_TYPE_INT64 = 7 };

/* The files of external data that were read, each once. */
struct onnx_external {
    struct onnx_external *next;
    uint64_t device, inode;
    const uint8_t *data;
    size_t size;
};

struct onnx_reader {
    struct model *model;
    struct onnx_external *externals;
    int64_t expanded; /* elements that the sparse tensors have, zeros included */
};

/* A message's field, which must be a well-formed message itself; complains in terms of `what`. */
int onnx_message(const struct onnx_reader *reader, struct model_span span, const char *what,
                 struct wire *out);

/* A string of the image, as text that the model owns; NULL: no memory, complained of. */
const char *onnx_text(const struct onnx_reader *reader, struct model_span span);

int onnx_no_memory(const struct onnx_reader *reader);

/* Reads a GraphProto to all of the model but what ModelProto tells. */
int onnx_read_graph(struct onnx_reader *reader, struct wire graph);

/* Reads a TensorProto or a SparseTensorProto. */
int onnx_read_tensor(struct onnx_reader *reader, struct model_span span, struct model_tensor *out);
int onnx_read_sparse(struct onnx_reader *reader, struct model_span span, struct model_tensor *out);

/* The code of a dtype in files. */
uint64_t onnx_type_of(enum model_dtype dtype);

/* The bytes of a TensorProto's data that lie in another file. */
int onnx_external_data(struct onnx_reader *reader, struct wire tensor, const char *name,
                       const uint8_t **data, size_t *size);

/*
 * Reads a NodeProto. inputs and outputs are still to be resolved: the names go to `names`, which
 * has room for them. Tensors among the attributes go to the model's next ones.
 */
struct name_list;
int onnx_read_node(struct onnx_reader *reader, struct model_span span, struct name_list *names,
                   struct model_node *out);

/* Makes a tensor of what a Constant node holds; *has says whether it could. */
int onnx_constant(struct onnx_reader *reader, const struct model_node *node, bool *has,
                  size_t *tensor);

int onnx_write(const struct model *model, const char *path, FILE *stream);

#endif
