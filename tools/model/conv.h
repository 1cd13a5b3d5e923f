/* A Conv node as the library takes it. */
#ifndef CSRCONV_TOOLS_MODEL_CONV_H
#define CSRCONV_TOOLS_MODEL_CONV_H

#include "csrconv.h"
#include "operator.h"

/* From the attributes and the shapes of the inputs, all of them checked. */
int conv_geometry(const struct operation *operation, csrconv_geometry *out);

#endif
