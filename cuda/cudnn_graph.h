/* cuDNN's descriptors, with this library's statuses, and the graph of one forward convolution. */
#ifndef CSRCONV_CUDNN_GRAPH_H
#define CSRCONV_CUDNN_GRAPH_H

#include "cuda_layout.h"

#include <cudnn.h>

/*
 * CSRCONV_OK, or a status and cuDNN's own words in a sentence. That cuDNN cannot do something is
 * CSRCONV_NOT_SUPPORTED, and so is what it takes for a bad parameter: its limits come as that too.
 */
csrconv_status csrconv_cudnn_check(cudnnStatus_t status, const char *what);

struct csrconv_cudnn_attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    const void *values;
};

/* *out = a finished descriptor with these attributes; NULL after a failure. */
csrconv_status csrconv_cudnn_make(cudnnBackendDescriptorType_t type, const char *what,
                                  const struct csrconv_cudnn_attribute *attributes, int count,
                                  cudnnBackendDescriptor_t *out);

/* NULL is accepted. */
void csrconv_cudnn_free(cudnnBackendDescriptor_t descriptor);

/* The names of the tensors among themselves. */
enum { CSRCONV_CUDNN_IN = 1, CSRCONV_CUDNN_WEIGHTS, CSRCONV_CUDNN_OUT };

/* Bytes that the start of every tensor has to be a multiple of. */
enum { CSRCONV_CUDNN_ALIGNMENT = 16 };

struct csrconv_cudnn_graph {
    cudnnBackendDescriptor_t in, weights, out, convolution, operation, graph;
};

/* Elements from one to the next along each of a tensor's four sizes, given in the order NCHW. */
void csrconv_cudnn_strides(const int64_t sizes[4], bool is_nhwc, int64_t strides[4]);

/* Whole batch, sums in fp32. csrconv_cudnn_graph_free is right after a failure too. */
csrconv_status csrconv_cudnn_graph_make(cudnnHandle_t handle, const struct csrconv_shape *shape,
                                        const struct csrconv_cuda_format *format,
                                        struct csrconv_cudnn_graph *graph);
void csrconv_cudnn_graph_free(struct csrconv_cudnn_graph *graph);

#endif
