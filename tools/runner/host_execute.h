/* A plan executed on tensors in the memory of the host, wherever it wants them. */
#ifndef CSRCONV_TOOLS_HOST_EXECUTE_H
#define CSRCONV_TOOLS_HOST_EXECUTE_H

#include "csrconv.h"
#include "format/tensor.h"

/* They are copied to the plan's device and back if that has a memory of its own. residual NULL: the
 * plan has none. */
int host_execute(const csrconv_plan *plan, int64_t batch, const struct tensor *in,
                 const struct tensor *residual, struct tensor *out);

#endif
