/* Reads measurements back from the CSV that csv.c writes. */
#ifndef CSRCONV_TOOLS_REPORT_READ_H
#define CSRCONV_TOOLS_REPORT_READ_H

#include "report.h"

/*
 * Adds the rows of a file to the report, with the columns of that list alone, which NULL ends; the
 * file must have them, and at least one row. Returns an exit_code and complains.
 */
int report_read(struct report *report, const char *path, const char *const *columns);

#endif
