/* CSV as it is written. */
#ifndef CSRCONV_TOOLS_REPORT_CSV_H
#define CSRCONV_TOOLS_REPORT_CSV_H

#include <stdio.h>

/* A cell, in quotes where it needs them; commas and line ends are the caller's. */
void csv_write_cell(FILE *stream, const char *cell);

#endif
