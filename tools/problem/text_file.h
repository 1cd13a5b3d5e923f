#ifndef CSRCONV_TOOLS_PROBLEM_TEXT_FILE_H
#define CSRCONV_TOOLS_PROBLEM_TEXT_FILE_H

#include <stddef.h>

/*
 * Reads a text of up to 64 MiB, more than any list of problems or table of results; *text is to be
 * freed, NULL on failure, and ends with a NUL that *size does not count. Returns an exit_code and
 * complains.
 */
int text_file_read(const char *path, char **text, size_t *size);

#endif
