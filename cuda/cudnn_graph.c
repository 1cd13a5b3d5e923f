#include "cudnn_graph.h"

#include <string.h>

/* The families of cuDNN's statuses, by thousands. */
static csrconv_status status_of(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return CSRCONV_OUT_OF_MEMORY;
    switch (status / 1000) {
    case 1:
        return CSRCONV_NO_DEVICE;
    case 4:
        return CSRCONV_INTERNAL;
    case 5:
        return CSRCONV_EXECUTION_FAILED;
    default:
        return CSRCONV_NOT_SUPPORTED;
    }
}

csrconv_status csrconv_cudnn_check(cudnnStatus_t status, const char *what)
{
    char words[256] = "";
    if (status == CUDNN_STATUS_SUCCESS)
        return CSRCONV_OK;
    cudnnGetLastErrorString(words, sizeof words);
    words[strcspn(words, "\r\n")] = '\0';
    return csrconv_fail(status_of(status), "cuDNN, %s: %s%s%s", what, cudnnGetErrorString(status),
                        words[0] ? ", " : "", words);
}

static cudnnStatus_t set_all(cudnnBackendDescriptor_t descriptor,
                             const struct csrconv_cudnn_attribute *attributes, int count)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    for (int i = 0; i < count && !status; i++)
        status = cudnnBackendSetAttribute(descriptor, attributes[i].name, attributes[i].type,
                                          attributes[i].count, attributes[i].values);
    return status ? status : cudnnBackendFinalize(descriptor);
}

csrconv_status csrconv_cudnn_make(cudnnBackendDescriptorType_t type, const char *what,
                                  const struct csrconv_cudnn_attribute *attributes, int count,
                                  cudnnBackendDescriptor_t *out)
{
    csrconv_status status;
    *out = NULL;
    if ((status = csrconv_cudnn_check(cudnnBackendCreateDescriptor(type, out), what)))
        return status;
    status = csrconv_cudnn_check(set_all(*out, attributes, count), what);
    if (status) {
        csrconv_cudnn_free(*out);
        *out = NULL;
    }
    return status;
}

cudnnStatus_t csrconv_cudnn_get(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t most, int64_t *count,
                                void *values)
{
    cudnnStatus_t status;
    *count = 0;
    status = cudnnBackendGetAttribute(from, name, type, most, count, values);
    if (*count > most)
        *count = most;
    return status;
}

void csrconv_cudnn_free(cudnnBackendDescriptor_t descriptor)
{
    if (descriptor)
        (void)cudnnBackendDestroyDescriptor(descriptor);
}

void csrconv_cudnn_strides(const int64_t sizes[4], bool is_nhwc, int64_t strides[4])
{
    const int64_t c = sizes[1], h = sizes[2], w = sizes[3];
    strides[0] = c * h * w;
    strides[1] = is_nhwc ? 1 : h * w;
    strides[2] = is_nhwc ? w * c : w;
    strides[3] = is_nhwc ? c : 1;
}

static int64_t element_bytes(const struct csrconv_cuda_format *format)
{
    return format->is_half ? 2 : (int64_t)sizeof(float);
}

static int64_t filled_up(int64_t channels, const struct csrconv_cuda_format *format)
{
    const int64_t vector = CSRCONV_CUDNN_VECTOR_BYTES / element_bytes(format);
    return (channels + vector - 1) / vector * vector;
}

struct csrconv_cudnn_sizes csrconv_cudnn_sizes(const struct csrconv_shape *shape,
                                               const struct csrconv_cuda_format *format)
{
    const csrconv_geometry *g = &shape->g;
    struct csrconv_cudnn_sizes sizes = {
        .in = { g->batch, g->channels, g->height, g->width },
        .weights = { g->filters, shape->group_channels, g->kernel_h, g->kernel_w },
        .out = { g->batch, g->filters, shape->out_h, shape->out_w },
    };
    if (format->is_nhwc && g->groups == 1) {
        sizes.in[1] = sizes.weights[1] = filled_up(g->channels, format);
        sizes.out[1] = sizes.weights[0] = filled_up(g->filters, format);
    }
    return sizes;
}

size_t csrconv_cudnn_bytes(const int64_t sizes[4], const struct csrconv_cuda_format *format)
{
    return (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3] * element_bytes(format));
}

bool csrconv_cudnn_has_vectors(const struct csrconv_cudnn_sizes *sizes,
                               const struct csrconv_cuda_format *format)
{
    const int inner = format->is_nhwc ? 1 : 3;
    const int64_t elements[] = { sizes->in[inner], sizes->weights[inner], sizes->out[inner] };
    for (int i = 0; i < 3; i++)
        if (elements[i] * element_bytes(format) % CSRCONV_CUDNN_VECTOR_BYTES)
            return false;
    return true;
}

static csrconv_status make_tensor(int64_t name, const int64_t sizes[4],
                                  const struct csrconv_cuda_format *format, const char *what,
                                  cudnnBackendDescriptor_t *out)
{
    const cudnnDataType_t type = format->is_half ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    const int64_t alignment = CSRCONV_CUDNN_VECTOR_BYTES;
    int64_t strides[4];
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name },
        { CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type },
        { CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment },
        { CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes },
        { CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides },
    };
    csrconv_cudnn_strides(sizes, format->is_nhwc, strides);
    return csrconv_cudnn_make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, what, attributes,
                              sizeof attributes / sizeof *attributes, out);
}

/* Groups are no attribute: cuDNN divides the channels of the input by those of the weights. */
static csrconv_status make_tensors(const struct csrconv_shape *shape,
                                   const struct csrconv_cuda_format *format,
                                   struct csrconv_cudnn_graph *graph)
{
    const struct csrconv_cudnn_sizes sizes = csrconv_cudnn_sizes(shape, format);
    csrconv_status status;
    graph->has_vectors = csrconv_cudnn_has_vectors(&sizes, format);
    if ((status = make_tensor(CSRCONV_CUDNN_IN, sizes.in, format, "the input", &graph->in)) ||
        (status = make_tensor(CSRCONV_CUDNN_WEIGHTS, sizes.weights, format, "the weights",
                              &graph->weights)))
        return status;
    return make_tensor(CSRCONV_CUDNN_OUT, sizes.out, format, "the output", &graph->out);
}

static csrconv_status make_convolution(const csrconv_geometry *g, cudnnBackendDescriptor_t *out)
{
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t rank = 2;
    const int64_t dilation[2] = { g->dilation_h, g->dilation_w };
    const int64_t stride[2] = { g->stride_h, g->stride_w };
    const int64_t before[2] = { g->pad_top, g->pad_left };
    const int64_t behind[2] = { g->pad_bottom, g->pad_right };
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type },
        { CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode },
        { CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &rank },
        { CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation },
        { CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride },
        { CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, before },
        { CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, behind },
    };
    return csrconv_cudnn_make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "the convolution", attributes,
                              sizeof attributes / sizeof *attributes, out);
}

static csrconv_status make_operation(struct csrconv_cudnn_graph *graph)
{
    const float one = 1.0F, zero = 0.0F;
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph->in },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph->weights },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph->out },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph->convolution },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero },
    };
    return csrconv_cudnn_make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                              "the operation", attributes, sizeof attributes / sizeof *attributes,
                              &graph->operation);
}

csrconv_status csrconv_cudnn_graph_make(cudnnHandle_t handle, const struct csrconv_shape *shape,
                                        const struct csrconv_cuda_format *format,
                                        struct csrconv_cudnn_graph *graph)
{
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle },
        { CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph->operation },
    };
    csrconv_status status;
    memset(graph, 0, sizeof *graph);
    if ((status = make_tensors(shape, format, graph)) ||
        (status = make_convolution(&shape->g, &graph->convolution)) ||
        (status = make_operation(graph)))
        return status;
    return csrconv_cudnn_make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the graph", attributes,
                              sizeof attributes / sizeof *attributes, &graph->graph);
}

void csrconv_cudnn_graph_free(struct csrconv_cudnn_graph *graph)
{
    csrconv_cudnn_free(graph->graph);
    csrconv_cudnn_free(graph->operation);
    csrconv_cudnn_free(graph->convolution);
    csrconv_cudnn_free(graph->out);
    csrconv_cudnn_free(graph->weights);
    csrconv_cudnn_free(graph->in);
    memset(graph, 0, sizeof *graph);
}
