#include "operator.h"

#include "complain.h"
#include "families.h"

#include <string.h>

/* More inputs than any Concat has. */
#define ANY SIZE_MAX

static const struct operator operators[] = {
    { "Add", 2, 2, 0, arithmetic_shape, add_compute },
    { "AveragePool", 1, 1, 0, pool_shape, average_pool_compute },
    { "BatchNormalization", 5, 5, 0, batch_norm_shape, batch_norm_compute },
    { "Clip", 1, 3, 0, operation_same_shape, clip_compute },
    { "Concat", 1, ANY, 0, concat_shape, concat_compute },
    { "Conv", 2, 3, 0, conv_shape, NULL },
    { "Div", 2, 2, 0, arithmetic_shape, div_compute },
    { "Dropout", 1, 3, 2 | 4, operation_same_shape, copy_compute },
    { "Flatten", 1, 1, 0, flatten_shape, copy_compute },
    { "Gemm", 2, 3, 0, gemm_shape, gemm_compute },
    { "GlobalAveragePool", 1, 1, 0, global_pool_shape, global_average_pool_compute },
    { "Identity", 1, 1, 0, operation_same_shape, copy_compute },
    { "LRN", 1, 1, 0, lrn_shape, lrn_compute },
    { "LeakyRelu", 1, 1, 0, operation_same_shape, leaky_relu_compute },
    { "MatMul", 2, 2, 0, matmul_shape, matmul_compute },
    { "MaxPool", 1, 1, 0, pool_shape, max_pool_compute },
    { "Mul", 2, 2, 0, arithmetic_shape, mul_compute },
    { "Pad", 1, 4, 2 | 8, pad_shape, pad_compute },
    { "Relu", 1, 1, 0, operation_same_shape, relu_compute },
    { "Reshape", 1, 2, 2, reshape_shape, copy_compute },
    { "Sigmoid", 1, 1, 0, operation_same_shape, sigmoid_compute },
    { "Slice", 1, 5, 2 | 4 | 8 | 16, slice_shape, slice_compute },
    { "Softmax", 1, 1, 0, softmax_shape, softmax_compute },
    { "Squeeze", 1, 2, 2, squeeze_shape, copy_compute },
    { "Sub", 2, 2, 0, arithmetic_shape, sub_compute },
    { "Tanh", 1, 1, 0, operation_same_shape, tanh_compute },
    { "Transpose", 1, 1, 0, transpose_shape, transpose_compute },
    { "Unsqueeze", 1, 2, 2, unsqueeze_shape, copy_compute },
};

const struct operator* operator_of(const struct model_node *node)
{
    if (*node->domain && strcmp(node->domain, "ai.onnx") != 0)
        return NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, node->op) == 0)
            return &operators[i];
    return NULL;
}

bool operator_takes_floats(const struct operator* operator, size_t input)
{
    return input >= 8 || !(operator->integers>> input & 1);
}

int operation_shape(struct operation *operation)
{
    const struct operator* const operator= operator_of(operation->node);
    const size_t count = operation->node->input_count;
    if (!operator)
        return operation_complain(operation, EXIT_REFUSED, "this operator is not supported");
    if (count > operator->most)
        return operation_complain(operation, EXIT_BAD, "it has %zu inputs", count);
    for (size_t i = 0; i < operator->least; i++)
        if (!operation_input(operation, i))
            return operation_complain(operation, EXIT_BAD, "it lacks input %zu", i);
    return operator->shape(operation);
}
