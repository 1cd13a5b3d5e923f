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

void csrconv_jit_print(struct csrconv_jit_text *text, const char *format, ...)
{
    const int64_t longest = 512;
    va_list arguments;
    if (!text->status && text->room - text->length < longest)
        grow(text, longest);
    if (text->status)
        return;
    va_start(arguments, format);
    text->length += vsnprintf(text->characters + text->length, (size_t)longest, format, arguments);
    va_end(arguments);
}

void csrconv_jit_text_free(struct csrconv_jit_text *text)
{
    csrconv_release(text->memory, text->characters);
}
