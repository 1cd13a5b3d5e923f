/* The functions that the table of operators is made of, by the files that define them. */
#ifndef CSRCONV_TOOLS_MODEL_FAMILIES_H
#define CSRCONV_TOOLS_MODEL_FAMILIES_H

#include "operator.h"

typedef int operation_function(struct operation *operation);

/* pointwise.c: one element of the output from one of the input. */
operation_function relu_compute, leaky_relu_compute, clip_compute, sigmoid_compute, tanh_compute;

/* arithmetic.c: two inputs, broadcast. */
operation_function arithmetic_shape, add_compute, sub_compute, mul_compute, div_compute;

/* reshape.c: the same elements under another shape. */
operation_function flatten_shape, reshape_shape, squeeze_shape, unsqueeze_shape, copy_compute;

/* movement.c, pad.c: elements at other places. */
operation_function transpose_shape, transpose_compute, concat_shape, concat_compute, slice_shape,
    slice_compute, pad_shape, pad_compute;

/* pooling.c */
operation_function pool_shape, max_pool_compute, average_pool_compute, global_pool_shape,
    global_average_pool_compute;

/* normalization.c */
operation_function batch_norm_shape, batch_norm_compute, lrn_shape, lrn_compute, softmax_shape,
    softmax_compute;

/* product.c: matrices. */
operation_function gemm_shape, gemm_compute, matmul_shape, matmul_compute;

/* conv.c */
operation_function conv_shape;

#endif
