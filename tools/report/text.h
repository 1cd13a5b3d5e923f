/* Texts that the writers build and show. */
#ifndef CSRCONV_TOOLS_REPORT_TEXT_H
#define CSRCONV_TOOLS_REPORT_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* A formatted text of its own, to be freed; NULL: no memory. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/*
 * Shows as '?' what no table, JSON or XML may hold: control characters, bytes that are not UTF-8
 * and the two code points that XML excludes.
 */
void text_clean(char *text);

/* A clean copy of the start of a text, such as a name from a file. */
enum { TEXT_SHOWN_BYTES = 96 };
struct text_shown {
    char text[TEXT_SHOWN_BYTES];
};
struct text_shown text_shown(const char *text);

/* Columns that a terminal shows it in: code points, of a clean text. */
size_t text_width(const char *text);

/* Bytes of the longest start of a clean text that is at most so wide. */
size_t text_cut(const char *text, size_t width);

#endif
