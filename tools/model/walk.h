/* Elements of an array taken in another order. */
#ifndef CSRCONV_TOOLS_MODEL_WALK_H
#define CSRCONV_TOOLS_MODEL_WALK_H

#include "format/tensor.h"

/* As each axis of the output goes on by one, the input goes on by so many elements. */
struct walk {
    const struct tensor *output;
    int64_t steps[TENSOR_MAX_RANK];
};

/* Fills y, all of the output, from x, where its first element comes from. */
void walk_copy(const struct walk *walk, const float *x, float *y);

#endif
