#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

char *text_vformat(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    char *const text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = text_vformat(format, arguments);
    va_end(arguments);
    return text;
}

static int continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static size_t sequence_bytes(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

/* The bytes of the code point that text starts with, or 0 if it may not be shown. */
static size_t showable(const char *text)
{
    static const uint32_t least[] = { 0, ' ', 0x80, 0x800, 0x10000 };
    const unsigned char lead = (unsigned char)*text;
    const size_t bytes = sequence_bytes(lead);
    uint32_t point = bytes == 1 ? lead : lead & (0xFFU >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if (!continues(text[i]))
            return 0;
        point = point << 6 | ((unsigned char)text[i] & 0x3F);
    }
    const int is_control = point == 0x7F || (point >= 0x80 && point < 0xA0);
    const int is_lead = lead < 0x80 || (lead >= 0xC0 && lead < 0xF8);
    const int is_surrogate = point >= 0xD800 && point < 0xE000;
    if (!is_lead || point < least[bytes] || point > 0x10FFFF || is_control || is_surrogate ||
        point == 0xFFFE || point == 0xFFFF)
        return 0;
    return bytes;
}

void text_clean(char *text)
{
    while (*text) {
        const size_t bytes = showable(text);
        if (bytes == 0)
            *text = '?';
        text += bytes ? bytes : 1;
    }
}

struct text_shown text_shown(const char *text)
{
    struct text_shown shown;
    snprintf(shown.text, sizeof shown.text, "%.*s", (int)sizeof shown.text - 1, text);
    text_clean(shown.text);
    return shown;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += !continues(*text);
    return width;
}

size_t text_cut(const char *text, size_t width)
{
    size_t bytes = 0;
    while (text[bytes] && (width > 0 || continues(text[bytes]))) {
        width -= !continues(text[bytes]);
        bytes++;
    }
    return bytes;
}
