/* Measures tilings of a kernel beside what they are estimated to take, as CSV. */
#ifndef CSRCONV_TOOLS_GPU_SWEEP_H
#define CSRCONV_TOOLS_GPU_SWEEP_H

#include "algorithm.h"

#include <stddef.h>
#include <stdio.h>

/* A kernel whose tilings can be listed and planned for. */
struct sweep_kernel {
    const char *algorithm;
    const char *columns; /* of what print prints, comma-separated */
    size_t tiling_bytes;

    /* Appends every tiling to the list; CSRCONV_OK, or a failure. */
    csrconv_status (*list)(const struct csrconv_algorithm *algorithm,
                           const struct csrconv_problem *problem, void *list);
    double (*estimate_us)(const void *tiling);
    csrconv_status (*prepare)(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared);
    void (*print)(const void *tiling, FILE *file);
};

/* For list: appends one. */
void sweep_append(void *list, const void *tiling);

/*
 * main of such a program, whose arguments are
 *   SPARSITY COUNT PROBLEM ...
 * Of each problem the COUNT / 2 tilings that are best by estimate, and as many spread over the
 * rest, each as a graph of executes with caches hot.
 */
int sweep_main(const struct sweep_kernel *kernel, int argc, char **argv);

#endif
