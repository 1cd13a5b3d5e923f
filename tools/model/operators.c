#include "operator.h"

#include "computations.h"
#include "shape_rules.h"

#include <string.h>

#define ANY SIZE_MAX

/* Conv has no computation here: it gets a plan of the library. */
static const struct operator_entry operators[] = {
    { "Abs", same_rule, NULL, 1, 1, 0 },
    { "Add", broadcast_rule, add_compute, 2, 2, 0 },
    { "AveragePool", pool_rule, average_pool_compute, 1, 1, 0 },
    { "BatchNormalization", same_rule, batch_norm_compute, 5, 5, 0 },
    { "Cast", same_rule, NULL, 1, 1, 0 },
    { "Clip", same_rule, clip_compute, 1, 3, 0 },
    { "Concat", concat_rule, concat_compute, 1, ANY, 0 },
    { "Conv", conv_rule, NULL, 2, 3, 0 },
    { "Div", broadcast_rule, div_compute, 2, 2, 0 },
    { "Dropout", same_rule, copy_compute, 1, 3, 1 << 1 | 1 << 2 },
    { "Elu", same_rule, NULL, 1, 1, 0 },
    { "Erf", same_rule, NULL, 1, 1, 0 },
    { "Exp", same_rule, NULL, 1, 1, 0 },
    { "Flatten", flatten_rule, copy_compute, 1, 1, 0 },
    { "Gelu", same_rule, NULL, 1, 1, 0 },
    { "Gemm", gemm_rule, gemm_compute, 2, 3, 0 },
    { "GlobalAveragePool", global_pool_rule, global_average_pool_compute, 1, 1, 0 },
    { "GlobalMaxPool", global_pool_rule, NULL, 1, 1, 0 },
    { "HardSigmoid", same_rule, hard_sigmoid_compute, 1, 1, 0 },
    { "HardSwish", same_rule, hard_swish_compute, 1, 1, 0 },
    { "Identity", same_rule, copy_compute, 1, 1, 0 },
    { "InstanceNormalization", same_rule, NULL, 3, 3, 0 },
    { "LRN", same_rule, lrn_compute, 1, 1, 0 },
    { "LeakyRelu", same_rule, leaky_relu_compute, 1, 1, 0 },
    { "LogSoftmax", same_rule, NULL, 1, 1, 0 },
    { "LpPool", pool_rule, NULL, 1, 1, 0 },
    { "MatMul", matmul_rule, matmul_compute, 2, 2, 0 },
    { "Max", broadcast_rule, NULL, 1, ANY, 0 },
    { "MaxPool", pool_rule, max_pool_compute, 1, 1, 0 },
    { "Mean", broadcast_rule, NULL, 1, ANY, 0 },
    { "Min", broadcast_rule, NULL, 1, ANY, 0 },
    { "Mish", same_rule, NULL, 1, 1, 0 },
    { "Mul", broadcast_rule, mul_compute, 2, 2, 0 },
    { "Neg", same_rule, NULL, 1, 1, 0 },
    { "PRelu", same_rule, NULL, 2, 2, 0 },
    { "Pad", pad_rule, pad_compute, 1, 3, 1 << 1 },
    { "Pow", broadcast_rule, NULL, 2, 2, 0 },
    { "ReduceMax", reduce_rule, NULL, 1, 2, 1 << 1 },
    { "ReduceMean", reduce_rule, reduce_mean_compute, 1, 2, 1 << 1 },
    { "ReduceSum", reduce_rule, NULL, 1, 2, 1 << 1 },
    { "Relu", same_rule, relu_compute, 1, 1, 0 },
    { "Reshape", reshape_rule, copy_compute, 1, 2, 1 << 1 },
    { "Selu", same_rule, NULL, 1, 1, 0 },
    { "Sigmoid", same_rule, sigmoid_compute, 1, 1, 0 },
    { "Slice", slice_rule, slice_compute, 1, 5, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 },
    { "Softmax", same_rule, softmax_compute, 1, 1, 0 },
    { "Softplus", same_rule, NULL, 1, 1, 0 },
    { "Sqrt", same_rule, NULL, 1, 1, 0 },
    { "Squeeze", squeeze_rule, copy_compute, 1, 2, 1 << 1 },
    { "Sub", broadcast_rule, sub_compute, 2, 2, 0 },
    { "Sum", broadcast_rule, sum_compute, 1, ANY, 0 },
    { "Tanh", same_rule, tanh_compute, 1, 1, 0 },
    { "Transpose", transpose_rule, transpose_compute, 1, 1, 0 },
    { "Unsqueeze", unsqueeze_rule, copy_compute, 1, 2, 1 << 1 },
};

const struct operator_entry *operator_of(const struct model_node *node)
{
    for (size_t i = 0; !*node->domain && i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, node->op) == 0)
            return &operators[i];
    return NULL;
}

bool operator_takes_floats(const struct operator_entry *op, size_t input)
{
    return input >= 8 || !(op->integers >> input & 1);
}
