/* The files of a reproduction: all are opened before anything is measured, in a folder made for
 * them. */
#ifndef CSRCONV_TOOLS_REPRODUCE_FILES_H
#define CSRCONV_TOOLS_REPRODUCE_FILES_H

#include "output.h"
#include "report/reproduction.h"

/* So many networks at once: each has a chart, and all files are open together. */
enum { REPRODUCE_NETWORKS = 10 };

struct reproduce_files {
    struct output *report, *layers, *ablation, *totals;
    struct output *charts[REPRODUCE_NETWORKS];
};

/*
 * Makes the folder, its parents too, and opens the files; networks have their names and charts.
 * Returns an exit_code and complains; reproduce_files_abandon in any case.
 */
int reproduce_files_open(const char *folder, const struct reproduction *reproduction,
                         struct reproduce_files *files);

/* Writes each whole. Files that were committed before a failure stay. */
int reproduce_files_save(const struct reproduction *reproduction, struct reproduce_files *files);

/* The folder goes too if it was made and is empty. */
void reproduce_files_abandon(struct reproduce_files *files);

#endif
