#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double q)
{
    const double position = q * (double)(count - 1);
    const size_t below = (size_t)position;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

struct statistics statistics_of(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, ascending);
    const struct statistics statistics = {
        .median = quantile(samples, count, 0.5),
        .min = samples[0],
        .q1 = quantile(samples, count, 0.25),
        .q3 = quantile(samples, count, 0.75),
    };
    return statistics;
}

void geometric_mean_add(struct geometric_mean *mean, double value)
{
    if (!isfinite(value) || value <= 0.0)
        return;
    mean->sum_of_logs += log(value);
    mean->count++;
}

double geometric_mean_value(const struct geometric_mean *mean)
{
    return mean->count ? exp(mean->sum_of_logs / (double)mean->count) : 0.0;
}
