/* What the layers come to together. */
#ifndef CSRCONV_TOOLS_REPORT_TOTALS_H
#define CSRCONV_TOOLS_REPORT_TOTALS_H

#include "analysis.h"
#include "statistics.h"

#include <stdio.h>

/* One contender over the layers where it ran, and over those where a dense one ran beside it. */
struct total {
    const char *name; /* an algorithm, "automatic choice", "best sparse", "best dense" */
    const struct result *example; /* one of those added up */
    double sum_us;
    size_t layers, won;
    struct geometric_mean over_dense;
    double compared_us, dense_us; /* sums over the layers with both */
    size_t ahead;                 /* of dense */
};

enum { TOTALS_MOST = 32 };
struct totals {
    struct total rows[TOTALS_MOST]; /* the algorithms, then the three that pick of each layer */
    size_t count;
};

/* The n-th cases of all layers are one setting. */
struct totals totals_of(const struct analysis *analysis, size_t ordinal);
size_t totals_layers(const struct analysis *analysis, size_t ordinal);

/* The best dense ones' sum over its own; 0: there is none. */
double total_over_dense(const struct total *total);

/*
 * One table for each setting that more than one layer ran in; nothing for a single layer. Returns
 * an exit_code and complains.
 */
int totals_write(const struct analysis *analysis, FILE *stream);

#endif
