#include "filter_statistics.h"

#include "complain.h"

#include <inttypes.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t *make_counts(const char *where, int64_t rows)
{
    int64_t *const counts = malloc(((size_t)rows + 1) * sizeof *counts);
    if (!counts)
        complain(EXIT_WRONG, where, "no room for %" PRId64 " row counts", rows);
    return counts;
}

/* Sorts and frees the counts. */
static struct filter_statistics conclude(int64_t *counts, int64_t rows, int64_t cols)
{
    struct filter_statistics s = { .filters = rows, .weights = rows * cols };
    if (rows)
        qsort(counts, (size_t)rows, sizeof *counts, ascending);
    for (int64_t m = 0; m < rows; m++) {
        s.nonzeros += counts[m];
        s.empty += counts[m] == 0;
    }
    if (rows) {
        s.least = counts[0];
        s.median = counts[rows / 2];
        s.most = counts[rows - 1];
    }
    free(counts);
    return s;
}

int filter_statistics_csr(const char *where, const int64_t *indptr, int64_t rows, int64_t cols,
                          struct filter_statistics *out)
{
    int64_t *const counts = make_counts(where, rows);
    if (!counts)
        return EXIT_WRONG;
    for (int64_t m = 0; m < rows; m++)
        counts[m] = indptr[m + 1] - indptr[m];
    *out = conclude(counts, rows, cols);
    return EXIT_DONE;
}

int filter_statistics_dense(const char *where, const float *values, int64_t rows, int64_t cols,
                            struct filter_statistics *out)
{
    int64_t *const counts = make_counts(where, rows);
    if (!counts)
        return EXIT_WRONG;
    for (int64_t m = 0; m < rows; m++) {
        counts[m] = 0;
        for (int64_t i = 0; i < cols; i++)
            counts[m] += values[m * cols + i] != 0.0F;
    }
    *out = conclude(counts, rows, cols);
    return EXIT_DONE;
}

double filter_sparsity(const struct filter_statistics *s)
{
    return s->weights ? 1.0 - (double)s->nonzeros / (double)s->weights : 0.0;
}
