#include "markdown.h"

#include "text.h"

#include <stdarg.h>
#include <stdlib.h>

void markdown_cell(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = text_vformat(format, arguments);
    va_end(arguments);
    fputs("| ", stream);
    for (const char *at = text ? text : ""; *at; at++) {
        if (*at == '|')
            fputc('\\', stream);
        fputc(*at, stream);
    }
    fputc(' ', stream);
    free(text);
}

void markdown_end_row(FILE *stream)
{
    fputs("|\n", stream);
}

void markdown_rule(FILE *stream, size_t left, size_t right)
{
    for (size_t i = 0; i < left; i++)
        fputs("|---", stream);
    for (size_t i = 0; i < right; i++)
        fputs("|--:", stream);
    fputs("|\n", stream);
}
