/* Plans of Conv nodes. */
#ifndef CSRCONV_TOOLS_MODEL_CONV_PLAN_H
#define CSRCONV_TOOLS_MODEL_CONV_PLAN_H

#include "csrconv.h"
#include "operator.h"

/* Made of the node's constant weights and bias; the shape rule has passed. */
int conv_plan_create(const struct operation *operation, const csrconv_plan_options *options,
                     csrconv_plan **out);

#endif
