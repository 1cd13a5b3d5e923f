/*
 * The line that says which algorithm a plan took and what for, so that another process can take it
 * without measuring again: "ALGORITHM; csrconv VERSION; DEVICE; layer DIGEST; nonzeros DIGEST".
 */
#ifndef CSRCONV_SAVED_CHOICE_H
#define CSRCONV_SAVED_CHOICE_H

#include "algorithm.h"

/* Of the places of the nonzeros, whatever their values. */
uint64_t csrconv_pattern_digest(const struct csrconv_weights *weights);

/* With the problem's device current. problem->weights is not looked at. */
csrconv_status csrconv_choice_write(const struct csrconv_problem *problem, uint64_t pattern,
                                    const char *algorithm, char text[CSRCONV_CHOICE_BYTES]);

/*
 * The algorithm's name in a text that was written for such a problem; CSRCONV_NOT_SUPPORTED says
 * what it was written for instead, CSRCONV_BAD_ARGUMENT that it is no such text.
 */
csrconv_status csrconv_choice_read(const char *text, const struct csrconv_problem *problem,
                                   uint64_t pattern, char algorithm[CSRCONV_CHOICE_BYTES]);

#endif
