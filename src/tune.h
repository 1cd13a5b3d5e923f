/* Which algorithm is the fastest, found by running them, for plans that do not rest on estimates.
 */
#ifndef CSRCONV_TUNE_H
#define CSRCONV_TUNE_H

#include "choose.h"

/*
 * Prepares and times each entry that the wish lets be taken, one after the other, and leaves the
 * fastest prepared. Times and what failed are in the entries; so is it if nothing ran, which is no
 * failure of this call. With the problem's device current.
 */
csrconv_status csrconv_tune(const struct csrconv_problem *problem, const struct csrconv_wish *wish,
                            struct csrconv_choice *choice, struct csrconv_prepared *prepared);

#endif
