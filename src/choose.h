/* Which algorithm a plan takes, and what is said about each of the others. */
#ifndef CSRCONV_CHOOSE_H
#define CSRCONV_CHOOSE_H

#include "algorithm.h"

enum { CSRCONV_REASON_BYTES = 256 };

struct csrconv_considered {
    const struct csrconv_algorithm *algorithm;
    csrconv_status status;
    double estimate_us; /* 0 if it refuses */
    char reason[CSRCONV_REASON_BYTES];
};

struct csrconv_choice {
    int count;
    struct csrconv_considered *considered; /* count, in the order of the tables */
    int chosen;
    const char *reason; /* of the chosen one */
};

/* What the choice is made by, of a plan's options. */
struct csrconv_wish {
    const char *name;                      /* "auto", "any", or an algorithm */
    const csrconv_algorithm *const *peers; /* NULL, or ended by NULL */
    csrconv_compile compile;
};

/*
 * Considers every algorithm of the table and of the peers. problem->device is resolved already.
 * choice->considered is allocated from memory and has to be released also after a failure. With a
 * compiled plan in the problem, only the algorithm of that name is asked.
 */
csrconv_status csrconv_choose(const struct csrconv_problem *problem,
                              const struct csrconv_wish *wish, struct csrconv_memory *memory,
                              struct csrconv_choice *choice);

/* Whether the name, which may be NULL, leaves the choice open. */
bool csrconv_is_wildcard(const char *name);

/* The algorithm of that name in the table or among peers, or NULL. */
const struct csrconv_algorithm *csrconv_find_algorithm(const char *name,
                                                       const csrconv_algorithm *const *peers);

#endif
