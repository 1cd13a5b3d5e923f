#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

static char text[1024];

static void make_one_line(char *line)
{
    for (; *line; line++)
        if ((unsigned char)*line < ' ' || *line == 0x7f)
            *line = '?';
}

int complain(int code, const char *where, const char *format, ...)
{
    const int length = snprintf(text, sizeof text / 2, "%s: ", where);
    const size_t used = length < (int)(sizeof text / 2) ? (size_t)length : sizeof text / 2 - 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    make_one_line(text);
    return code;
}

const char *complaint(void)
{
    return text;
}

void complain_clear(void)
{
    text[0] = '\0';
}
