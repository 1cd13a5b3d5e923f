/* The shape rules that the table of operators is made of. */
#ifndef CSRCONV_TOOLS_MODEL_SHAPE_RULES_H
#define CSRCONV_TOOLS_MODEL_SHAPE_RULES_H

#include "shapes.h"

/* shape_rules.c: the output is like the first input, or like all of them broadcast; and others. */
shape_rule same_rule, broadcast_rule, conv_rule, pool_rule, global_pool_rule, concat_rule,
    gemm_rule, matmul_rule, flatten_rule, reshape_rule, pad_rule, transpose_rule, squeeze_rule,
    unsqueeze_rule, reduce_rule;

/* slice.c */
shape_rule slice_rule;

#endif
