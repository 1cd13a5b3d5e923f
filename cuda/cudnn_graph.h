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

/* At most `most` values of an attribute; *count = how many it gave, 0 after a failure. */
cudnnStatus_t csrconv_cudnn_get(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t most, int64_t *count,
                                void *values);

/* NULL is accepted. */
void csrconv_cudnn_free(cudnnBackendDescriptor_t descriptor);

/* The names of the tensors among themselves. */
enum { CSRCONV_CUDNN_IN = 1, CSRCONV_CUDNN_WEIGHTS, CSRCONV_CUDNN_OUT };

/*
 * Bytes of the widest vectors that kernels load and store: every tensor starts at one. (More is
 * true: they start where cudaMalloc does or at a multiple of 256 in a workspace that does.)
 */
enum { CSRCONV_CUDNN_VECTOR_BYTES = 16 };

/* The tensors, in the order NCHW. */
struct csrconv_cudnn_sizes {
    int64_t in[4], weights[4], out[4];
};

/*
 * In NHWC and one group, channels and filters are filled up with zeros to whole vectors, as dense
 * networks have them: cuDNN's tensor cores want that, or do it themselves at each run. Groups are
 * left as they are: to fill up each would multiply the work of the narrow ones.
 */
struct csrconv_cudnn_sizes csrconv_cudnn_sizes(const struct csrconv_shape *shape,
                                               const struct csrconv_cuda_format *format);

/* Bytes of a tensor. */
size_t csrconv_cudnn_bytes(const int64_t sizes[4], const struct csrconv_cuda_format *format);

/*
 * Whether the elements that lie together, channels in NHWC and rows in NCHW, are whole vectors in
 * every tensor. Kernels that cuDNN compiles at run time may take that for granted: one of 9.14
 * (fort_native, float16, planes of 200 bytes) stored 16 bytes where no vector begins, a fault that
 * takes the process's CUDA context along.
 */
bool csrconv_cudnn_has_vectors(const struct csrconv_cudnn_sizes *sizes,
                               const struct csrconv_cuda_format *format);

struct csrconv_cudnn_graph {
    cudnnBackendDescriptor_t in, weights, out, convolution, operation, graph;
    bool has_vectors;
};

/* Elements from one to the next along each of a tensor's four sizes, given in the order NCHW. */
void csrconv_cudnn_strides(const int64_t sizes[4], bool is_nhwc, int64_t strides[4]);

/* Whole batch, sums in fp32. csrconv_cudnn_graph_free is right after a failure too. */
csrconv_status csrconv_cudnn_graph_make(cudnnHandle_t handle, const struct csrconv_shape *shape,
                                        const struct csrconv_cuda_format *format,
                                        struct csrconv_cudnn_graph *graph);
void csrconv_cudnn_graph_free(struct csrconv_cudnn_graph *graph);

#endif
