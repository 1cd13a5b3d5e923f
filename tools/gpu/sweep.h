/*
 * Measures many ways to cut a problem beside what each is estimated to take; what the sweep
 * programs of this folder share.
 */
#ifndef CSRCONV_GPU_SWEEP_H
#define CSRCONV_GPU_SWEEP_H

#include "algorithm.h"

struct sweep {
    const char *algorithm;
    const char *header; /* of the columns that print prints */
    size_t size;        /* of a tiling */
    /* Fills in up to `most` tilings, best estimate first; how many, -1 after a failure. */
    int64_t (*list)(const struct csrconv_problem *problem, void *tilings, int64_t most);
    csrconv_status (*prepare)(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared);
    void (*print)(const void *tiling);
};

/* Appends to a list of tilings that qsort then sorts: what the _each functions visit with. */
struct sweep_list {
    void *tilings;
    size_t size;
    int64_t count, most;
};

void sweep_keep(struct sweep_list *list, const void *tiling);

/* The `count` best tilings of a problem, as rows of CSV. An exit code. */
int sweep_problem(const struct sweep *sweep, const char *problem, double sparsity, int64_t count);

/* The first row. */
void sweep_print_header(const struct sweep *sweep);

#endif
