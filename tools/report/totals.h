/* What the layers come to together. */
#ifndef CSRCONV_TOOLS_REPORT_TOTALS_H
#define CSRCONV_TOOLS_REPORT_TOTALS_H

#include "analysis.h"

#include <stdio.h>

/*
 * One table for each setting that more than one layer ran in; nothing for a single layer. The n-th
 * cases of all layers are one setting. Returns an exit_code and complains.
 */
int totals_write(const struct analysis *analysis, FILE *stream);

#endif
