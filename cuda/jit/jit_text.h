/* A text that grows as it is printed to. */
#ifndef CSRCONV_JIT_TEXT_H
#define CSRCONV_JIT_TEXT_H

#include "core.h"

/* All zeros but for the memory is an empty text. */
struct csrconv_jit_text {
    struct csrconv_memory *memory;
    char *characters; /* ended by a 0 once something was printed */
    int64_t length, room;
    csrconv_status status; /* of the first print that failed; those after it do nothing */
};

void csrconv_jit_print(struct csrconv_jit_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void csrconv_jit_text_free(struct csrconv_jit_text *text);

#endif
