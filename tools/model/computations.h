/* The computations that the table of operators is made of, by the files that define them. */
#ifndef CSRCONV_TOOLS_MODEL_COMPUTATIONS_H
#define CSRCONV_TOOLS_MODEL_COMPUTATIONS_H

#include "operator.h"

/* pointwise.c: one element of the output from one of the input; or just that element. */
operator_compute relu_compute, leaky_relu_compute, clip_compute, sigmoid_compute, tanh_compute,
    hard_sigmoid_compute, hard_swish_compute, copy_compute;

/* arithmetic.c: two inputs, broadcast, or any number of them. */
operator_compute add_compute, sub_compute, mul_compute, div_compute, sum_compute;

/* movement.c, slice.c, pad.c: elements at other places. */
operator_compute transpose_compute, concat_compute, slice_compute, pad_compute;

/* pooling.c, reduce.c */
operator_compute max_pool_compute, average_pool_compute, global_average_pool_compute,
    reduce_mean_compute;

/* normalization.c */
operator_compute batch_norm_compute, lrn_compute, softmax_compute;

/* product.c: matrices. */
operator_compute gemm_compute, matmul_compute;

#endif
