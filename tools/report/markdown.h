/* Tables in Markdown, cell by cell. */
#ifndef CSRCONV_TOOLS_REPORT_MARKDOWN_H
#define CSRCONV_TOOLS_REPORT_MARKDOWN_H

#include <stdio.h>

/* A cell of a row; a '|' in the text cannot end it. */
void markdown_cell(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

void markdown_end_row(FILE *stream);

/* The line under the headings: so many columns to the left, then so many to the right. */
void markdown_rule(FILE *stream, size_t left, size_t right);

#endif
