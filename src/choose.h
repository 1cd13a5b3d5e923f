/* Which algorithm a plan takes, and what is said about each of the others. */
#ifndef CSRCONV_CHOOSE_H
#define CSRCONV_CHOOSE_H

#include "algorithm.h"

#include <stdbool.h>

enum { CSRCONV_REASON_BYTES = 256 };

struct csrconv_considered {
    const struct csrconv_algorithm *algorithm;
    csrconv_status status;
    struct csrconv_estimate estimate; /* us is 0 if it refuses */
    double measured_us;               /* 0: was not */
    char reason[CSRCONV_REASON_BYTES];
};

struct csrconv_choice {
    int count;
    struct csrconv_considered *considered; /* count, in the order of the tables */
    int chosen;
    const char *reason; /* of the chosen one */
};

/* What a plan is asked to take. */
struct csrconv_wish {
    const char *name; /* "auto", "any", or an algorithm */
    csrconv_compile compile;
    bool is_saved; /* the name comes from a saved choice */
    bool is_blob;  /* the name comes from a blob: nothing else is asked */
};

/* Whether the name leaves a choice. */
bool csrconv_is_wildcard(const char *name);

/*
 * Asks every algorithm of the table and of peers (NULL or NULL-ended). problem->device is resolved
 * already. choice->considered is allocated from memory and has to be released also after a failure.
 */
csrconv_status csrconv_consider(const struct csrconv_problem *problem,
                                const struct csrconv_wish *wish,
                                const csrconv_algorithm *const *peers,
                                struct csrconv_memory *memory, struct csrconv_choice *choice);

/* Whether the wish lets this entry be taken at all. */
bool csrconv_is_eligible(const struct csrconv_considered *entry, const struct csrconv_wish *wish);

/*
 * Takes the fastest of those that the wish lets be taken, by the times measured where there are
 * any, else by the estimates (which have to differ by a tenth for weights to be compiled), and
 * words why each was taken or not.
 */
csrconv_status csrconv_choose(struct csrconv_choice *choice, const struct csrconv_wish *wish);

/* The algorithm of that name in the table or among peers, or NULL. */
const struct csrconv_algorithm *csrconv_find_algorithm(const char *name,
                                                       const csrconv_algorithm *const *peers);

#endif
