/* Two runs of bench side by side. */
#ifndef CSRCONV_TOOLS_REPORT_COMPARISON_H
#define CSRCONV_TOOLS_REPORT_COMPARISON_H

#include "report.h"

#include <stdio.h>

/* The columns that comparison_write uses, ended by NULL: what report_read is to read. */
extern const char *const comparison_columns[];

/*
 * Joins the measurements on what identifies them and writes the table of old and new medians.
 * Neither report may be empty; the names are those of the files. Returns an exit_code; EXIT_BAD if
 * a measurement stands twice in a file, or none in both: then the table has been written.
 */
int comparison_write(const struct report *old, const char *old_name, const struct report *fresh,
                     const char *new_name, FILE *stream);

#endif
