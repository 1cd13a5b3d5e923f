/* What csrconv info tells of a model file. */
#ifndef CSRCONV_TOOLS_INFO_MODEL_H
#define CSRCONV_TOOLS_INFO_MODEL_H

#include "model/model.h"

/* Prints it; input_shape as in shapes_make. Returns an exit_code and complains. */
int info_model(const struct model *model, const char *input_shape);

#endif
