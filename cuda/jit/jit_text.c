#include "jit_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for at least so many characters more, and twice what there was. */
static void grow(struct csrconv_jit_text *text, int64_t more)
{
    const int64_t least = 4096, room = 2 * text->room + more + least;
    char *characters;
    text->status = csrconv_allocate(text->memory, room, 1, (void **)&characters);
    if (text->status)
        return;
    if (text->length)
        memcpy(characters, text->characters, (size_t)text->length);
    csrconv_release(text->memory, text->characters);
    text->characters = characters;
    text->room = room;
}

/* Characters that there would be; if they fit, they are there. */
static int64_t print(const struct csrconv_jit_text *text, const char *format, va_list arguments)
{
    const int64_t room = text->room - text->length;
    return vsnprintf(room ? text->characters + text->length : NULL, (size_t)room, format,
                     arguments);
}

void csrconv_jit_print(struct csrconv_jit_text *text, const char *format, ...)
{
    va_list arguments;
    int64_t length;
    if (text->status)
        return;
    va_start(arguments, format);
    length = print(text, format, arguments);
    va_end(arguments);
    if (length >= text->room - text->length) {
        grow(text, length + 1);
        if (text->status)
            return;
        va_start(arguments, format);
        length = print(text, format, arguments);
        va_end(arguments);
    }
    text->length += length;
}

void csrconv_jit_text_free(struct csrconv_jit_text *text)
{
    csrconv_release(text->memory, text->characters);
}
