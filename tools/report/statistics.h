/* Statistics of samples: robust ones, as the time of a shared machine has a long tail. */
#ifndef CSRCONV_TOOLS_REPORT_STATISTICS_H
#define CSRCONV_TOOLS_REPORT_STATISTICS_H

#include <stddef.h>

struct statistics {
    double median, min, q1, q3;
};

/*
 * Of count >= 1 samples, which are sorted in place. A quantile q is the linear interpolation
 * between the two samples around the position q * (count - 1), counted from 0 in ascending order.
 */
struct statistics statistics_of(double *samples, size_t count);

/* Adds up a geometric mean; start it as {0}. Values that are not positive numbers are left out. */
struct geometric_mean {
    double sum_of_logs;
    size_t count;
};
void geometric_mean_add(struct geometric_mean *mean, double value);
double geometric_mean_value(const struct geometric_mean *mean); /* 0 of no values */

#endif
