/* What an execute is handed, checked before anything is touched. */
#ifndef CSRCONV_BUFFERS_H
#define CSRCONV_BUFFERS_H

#include "plan.h"

/* CSRCONV_BAD_BUFFER or CSRCONV_BAD_ARGUMENT with the pointer or the count that is wrong. */
csrconv_status csrconv_check_buffers(const struct csrconv_plan *plan, const struct csrconv_run *run,
                                     size_t workspace_bytes);

#endif
