/* Verifies algorithms on one problem, with exact and with real data: what verify and the tests do.
 */
#ifndef CSRCONV_TOOLS_CHECK_H
#define CSRCONV_TOOLS_CHECK_H

#include "grid.h"

struct check_count {
    int64_t passed, failed, skipped;
};

struct check_request {
    csrconv_device device;
    int ordinal;
    const int *wanted; /* by index of selection_algorithm */
    int threads;
    uint64_t seed;
    /* Told each result: status is that of a trial; detail the reason, or NULL. May be NULL. */
    void (*tell)(const struct grid_case *problem, const char *algorithm, int status,
                 const char *detail, double max_error);
};

/*
 * Runs each wanted algorithm of the device, and counts. *ran says whether any of them did. Returns
 * an exit_code, having complained, if the problem itself cannot be set up.
 */
int check_problem(const struct check_request *request, const struct grid_case *problem,
                  struct check_count *count, bool *ran);

#endif
