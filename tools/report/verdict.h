/* What to do with a model, setting by setting: a paragraph that a person can act on. */
#ifndef CSRCONV_TOOLS_REPORT_VERDICT_H
#define CSRCONV_TOOLS_REPORT_VERDICT_H

#include "analysis.h"

#include <stdio.h>

void verdict_write(const struct analysis *analysis, FILE *stream);

#endif
