#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text text_of(const void *data, size_t size)
{
    const char *const start = data;
    return (struct text){ .start = start, .at = start, .end = start + size };
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What may not follow an integer directly: "12" of "12.5" or "12abc" is not one. */
static bool continues_number(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '+' || c == '-' || c == '_';
}

void text_skip_space(struct text *text)
{
    while (text->at < text->end && is_space(*text->at))
        text->at++;
}

bool text_at_end(const struct text *text)
{
    return text->at == text->end;
}

bool text_take_char(struct text *text, char wanted)
{
    text_skip_space(text);
    if (text_at_end(text) || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

bool text_take_integer(struct text *text, int64_t *value)
{
    text_skip_space(text);
    const char *at = text->at;
    const bool negative = at < text->end && *at == '-';
    if (at < text->end && (*at == '-' || *at == '+'))
        at++;
    const char *const digits = at;
    int64_t sum = 0;
    for (; at < text->end && is_digit(*at); at++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *at - '0', &sum))
            return false;
    if (at == digits || (at < text->end && continues_number(*at)))
        return false;
    *value = negative ? -sum : sum;
    text->at = at;
    return true;
}

static const char *word_end(const struct text *text)
{
    const char *end = text->at;
    while (end < text->end && !is_space(*end))
        end++;
    return end;
}

bool text_take_real(struct text *text, float *value, bool *overflowed)
{
    char word[64]; /* strtof needs a NUL after its number, which the text may lack */
    text_skip_space(text);
    const char *const end = word_end(text);
    const size_t length = (size_t)(end - text->at);
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text->at, length);
    word[length] = '\0';
    char *rest;
    *value = strtof(word, &rest);
    if (rest != word + length)
        return false;
    if (isinf(*value) && !strpbrk(word, "iI"))
        *overflowed = true;
    text->at = end;
    return true;
}

bool text_take_word(struct text *text, char *word, size_t size)
{
    text_skip_space(text);
    const char *const end = word_end(text);
    const size_t length = (size_t)(end - text->at);
    const size_t kept = length < size ? length : size - 1;
    memcpy(word, text->at, kept);
    word[kept] = '\0';
    text->at = end;
    return length > 0;
}

void text_skip_line(struct text *text)
{
    const char *const newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->at = newline ? newline + 1 : text->end;
}

int64_t text_line(const struct text *text)
{
    int64_t line = 1;
    for (const char *at = text->start; at < text->at; at++)
        line += *at == '\n';
    return line;
}

const char *text_quote(const struct text *text, char quote[TEXT_QUOTE])
{
    struct text rest = *text;
    char word[TEXT_QUOTE - 2];
    if (text_take_word(&rest, word, sizeof word))
        snprintf(quote, TEXT_QUOTE, "'%s'", word);
    else
        snprintf(quote, TEXT_QUOTE, "the end of the file");
    return quote;
}
