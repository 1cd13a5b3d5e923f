/*
 * The files that bench writes. They are opened before anything is measured, so that no hour of
 * measuring is lost to a folder that is not there.
 */
#ifndef CSRCONV_TOOLS_BENCH_FILES_H
#define CSRCONV_TOOLS_BENCH_FILES_H

#include "choices.h"
#include "output.h"
#include "report/report_format.h"

#include <stdbool.h>

enum { BENCH_CSV, BENCH_JSON, BENCH_SVG, BENCH_CHOICES, BENCH_FILES };

struct bench_files {
    const char *paths[BENCH_FILES]; /* NULL: not asked for */
    struct output *outputs[BENCH_FILES];
};

/* Returns an exit_code, having complained; bench_files_abandon is right in any case. */
int bench_files_open(struct bench_files *files);

/*
 * Writes them, and the table to standard output unless a file goes there. Without a measurement the
 * files stay as they were, and the table says why there is none. Returns an exit_code.
 */
int bench_files_save(struct bench_files *files, const struct report *report,
                     const struct choice_list *choices, bool is_measured);

void bench_files_abandon(struct bench_files *files);

#endif
