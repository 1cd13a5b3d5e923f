/* What pruning came to: a table in Markdown, and a chart of how the nonzeros are spread. */
#ifndef CSRCONV_TOOLS_PRUNE_REPORT_H
#define CSRCONV_TOOLS_PRUNE_REPORT_H

#include "prune/model.h"

#include <stdio.h>

/* `how` is the method in words. They return an exit_code and complain. */
int prune_report_markdown(const struct prune_model *prune, const char *how, FILE *stream);
int prune_report_svg(const struct prune_model *prune, const char *how, FILE *stream);

#endif
