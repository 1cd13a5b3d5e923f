/* What a report can be written as: one constant per file, and one table of them. */
#ifndef CSRCONV_TOOLS_REPORT_REPORT_FORMAT_H
#define CSRCONV_TOOLS_REPORT_REPORT_FORMAT_H

#include "report.h"

#include <stdio.h>

struct report_format {
    const char *name;
    /* Returns an exit_code and complains; errors of the stream are left to who opened it. */
    int (*write)(const struct report *report, FILE *stream);
};

extern const struct report_format report_format_table; /* for people; ends in the sentences */
extern const struct report_format report_format_csv;
extern const struct report_format report_format_json;
extern const struct report_format report_format_svg;

/* Writes it whole or not at all; "-" is standard output. Returns an exit_code and complains. */
int report_save(const struct report *report, const struct report_format *format, const char *path);

#endif
