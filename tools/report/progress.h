/*
 * A progress bar on a terminal, and nothing at all on anything else. One line, rewritten in place;
 * clear it before anything else is written to the terminal.
 */
#ifndef CSRCONV_TOOLS_REPORT_PROGRESS_H
#define CSRCONV_TOOLS_REPORT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *stream;  /* NULL: not a terminal */
    size_t width;  /* columns of the bar's line */
    int64_t total; /* steps */
    double started_s;
    int is_shown;
};

/* Of so many steps; stream is stderr but in tests. */
struct progress progress_start(FILE *stream, int64_t total);

/* Shows that `done` steps are done and that `name`, any text, comes next. */
void progress_show(struct progress *progress, int64_t done, const char *name);
void progress_clear(struct progress *progress);

/* The line itself, cut to its width (at most PROGRESS_WIDTH): what progress_show writes. */
enum { PROGRESS_WIDTH = 200, PROGRESS_BYTES = 4 * PROGRESS_WIDTH + 1 };
void progress_line(char line[PROGRESS_BYTES], size_t width, int64_t done, int64_t total,
                   double elapsed_s, const char *name);

#endif
