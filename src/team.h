/* The threads of a CPU plan: the caller's parallel loop, OpenMP, or none. */
#ifndef CSRCONV_TEAM_H
#define CSRCONV_TEAM_H

#include "csrconv.h"

struct csrconv_team {
    int threads;
    csrconv_parallel hook; /* run is NULL: OpenMP */
};

/* threads = 0 takes all that the machine has, or the hook's; hook may be NULL. */
csrconv_status csrconv_team_init(struct csrconv_team *team, int threads,
                                 const csrconv_parallel *hook);

/* Works on items [begin, end). */
typedef void (*csrconv_range_task)(void *argument, int64_t begin, int64_t end);

/*
 * Covers [0, count) with calls of task on disjoint ranges, several at once, and returns when all of
 * them have. There are more ranges than threads, since items may differ in length.
 */
void csrconv_team_run(const struct csrconv_team *team, int64_t count, csrconv_range_task task,
                      void *argument);

#endif
