/*
 * Numbers and words out of text that ends where its bytes end: no terminating NUL is needed. A take
 * function skips white space, takes what it is named for, or returns false at the start of what is
 * there instead.
 */
#ifndef CSRCONV_TOOLS_FORMAT_TEXT_H
#define CSRCONV_TOOLS_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *start;
    const char *at; /* what was not taken yet */
    const char *end;
};

struct text text_of(const void *data, size_t size);

void text_skip_space(struct text *text);
bool text_take_char(struct text *text, char wanted);

/* A whole word that is a decimal integer of 64 bits. */
bool text_take_integer(struct text *text, int64_t *value);

/* A whole word that strtof takes; *overflowed is set if it is a number beyond float's range. */
bool text_take_real(struct text *text, float *value, bool *overflowed);

/* Up to white space, cut to size - 1 characters. */
bool text_take_word(struct text *text, char *word, size_t size);

/* Moves to the start of the next line. */
void text_skip_line(struct text *text);

bool text_at_end(const struct text *text);

/* Of the line where `at` is, from 1. */
int64_t text_line(const struct text *text);

/* What stands there, for a message: a word in quotes, or "the end of the file". */
enum { TEXT_QUOTE = 28 };
const char *text_quote(const struct text *text, char quote[TEXT_QUOTE]);

#endif
