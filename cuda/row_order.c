#include "row_order.h"

#include "csr.h"

#include <stdlib.h>

static int by_length(const void *a, const void *b)
{
    const struct csrconv_row *x = a, *y = b;
    if (x->nonzeros != y->nonzeros)
        return x->nonzeros < y->nonzeros ? 1 : -1;
    return (x->filter > y->filter) - (x->filter < y->filter);
}

void csrconv_order_rows(const struct csrconv_problem *problem, int64_t group,
                        struct csrconv_row *rows)
{
    const int64_t count = problem->shape.group_filters;
    const int64_t *indptr = problem->weights->indptr;
    for (int64_t i = 0; i < count; i++) {
        const int64_t m = group * count + i;
        rows[i] = (struct csrconv_row){ m, indptr[m + 1] - indptr[m] };
    }
    if (!problem->without.row_order)
        qsort(rows, (size_t)count, sizeof *rows, by_length);
}
