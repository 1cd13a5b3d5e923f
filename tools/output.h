/*
 * Output files that are whole or not there: written under a temporary name beside the target, then
 * renamed onto it. An existing target survives any failure. A target that exists and is not a
 * regular file is written directly; "-" is standard output. SIGINT, SIGTERM and SIGHUP remove the
 * temporary files of the process, and the folder that was made for them (made_folder.h).
 */
#ifndef CSRCONV_TOOLS_OUTPUT_H
#define CSRCONV_TOOLS_OUTPUT_H

#include <stdio.h>

struct output;

/* From now on those signals do so; output_open does this too. */
void output_catch_signals(void);

/* Opens an output; *out is NULL on failure. Returns an exit_code and complains. */
int output_open(const char *path, struct output **out);

/* To write to; errors need no check, output_commit finds them. */
FILE *output_stream(struct output *output);

/*
 * Flushes, checks every error since the opening, renames, and frees *output in any case. After a
 * failure the target is as it was, and the temporary file is gone.
 */
int output_commit(struct output **output);

/* Gives the output up: removes the temporary file, frees *output. NULL is accepted. */
void output_abandon(struct output **output);

#endif
