/* The known word that somebody probably meant by an unknown one. */
#ifndef CSRCONV_TOOLS_NEAREST_H
#define CSRCONV_TOOLS_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL: nothing considered so far is near enough to be meant */
    size_t distance;
};

struct nearest nearest_to(const char *word);
void nearest_consider(struct nearest *nearest, const char *candidate);

#endif
