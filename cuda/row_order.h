/* The filters of a group by how many nonzeros they have, to be dealt to warps or panels. */
#ifndef CSRCONV_CUDA_ROW_ORDER_H
#define CSRCONV_CUDA_ROW_ORDER_H

#include "algorithm.h"

struct csrconv_row {
    int64_t filter, nonzeros;
};

/*
 * Fills in all rows of the group: longest first, of equal ones the lower filter; as they come, if
 * the problem is to do without that (row_order).
 */
void csrconv_order_rows(const struct csrconv_problem *problem, int64_t group,
                        struct csrconv_row *rows);

#endif
