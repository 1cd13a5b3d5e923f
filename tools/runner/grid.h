/*
 * The built-in problems of verify: the corners that convolution libraries get wrong, one by one,
 * and random combinations of everything.
 */
#ifndef CSRCONV_TOOLS_GRID_H
#define CSRCONV_TOOLS_GRID_H

#include "workload.h"

struct grid_case {
    char name[160];
    csrconv_geometry geometry;
    struct workload_options options; /* but for seed and is_exact */
    int64_t n;                       /* images to execute, at most geometry.batch */
};

int grid_count(void);

/* Case `index` of the grid of that seed. */
void grid_case(int index, uint64_t seed, struct grid_case *out);

#endif
