/* The context of Google Benchmark's JSON: the machine, without its name. */
#ifndef CSRCONV_TOOLS_REPORT_JSON_CONTEXT_H
#define CSRCONV_TOOLS_REPORT_JSON_CONTEXT_H

#include "report.h"

#include <jansson.h>

/* To be freed; NULL: no memory. What the system does not tell is left out. */
json_t *json_context(const struct report *report);

#endif
