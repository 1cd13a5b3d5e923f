/* The convolutions of a model file as problems with weights. */
#ifndef CSRCONV_TOOLS_MODEL_PROBLEMS_H
#define CSRCONV_TOOLS_MODEL_PROBLEMS_H

#include "problem/problem.h"

#include <stdbool.h>

/*
 * Appends them, named FILE:CONVOLUTION without the file's folder and extension. Those whose input
 * size is not known are left out with a warning; none that is known is an error. input_shape is
 * that of shapes_make. Returns an exit_code and complains.
 */
int model_problems(const char *path, const char *input_shape, bool folds,
                   struct problem_list *list);

#endif
