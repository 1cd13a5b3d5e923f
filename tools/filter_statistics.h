/* How a filter bank's nonzeros are spread over its filters. */
#ifndef CSRCONV_TOOLS_FILTER_STATISTICS_H
#define CSRCONV_TOOLS_FILTER_STATISTICS_H

#include <stdint.h>

struct filter_statistics {
    int64_t filters, weights, nonzeros;
    int64_t least, median, most; /* nonzeros of a filter */
    int64_t empty;               /* filters */
};

/* Of a CSR matrix with that many columns. They return an exit_code and complain of `where`. */
int filter_statistics_csr(const char *where, const int64_t *indptr, int64_t rows, int64_t cols,
                          struct filter_statistics *out);

/* Of a dense one. */
int filter_statistics_dense(const char *where, const float *values, int64_t rows, int64_t cols,
                            struct filter_statistics *out);

/* The fraction of zeros; 0 of nothing. */
double filter_sparsity(const struct filter_statistics *statistics);

#endif
