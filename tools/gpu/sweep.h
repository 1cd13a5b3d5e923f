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

/* The first row of the CSV. */
void sweep_header(const struct sweep_kernel *kernel);

/*
 * Rows of count / 2 tilings of a problem that are best by estimate, and of as many spread over the
 * rest (the best one, if count is 1), each as a graph of executes with caches hot. An exit code.
 */
int sweep_problem(const struct sweep_kernel *kernel, const char *problem, double sparsity,
                  int64_t count);

/* What every sweep begins with: SPARSITY COUNT. An exit code. */
int sweep_numbers(char **argv, double *sparsity, int64_t *count);

/* main of a program whose arguments are SPARSITY COUNT PROBLEM ... */
int sweep_main(const struct sweep_kernel *kernel, int argc, char **argv);

#endif
