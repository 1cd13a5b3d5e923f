#include "payoff_model.h"

#include "plan.h"
#include "problem/pattern.h"

#include <stdlib.h>

const double payoff_model_lowest = 0.5, payoff_model_highest = 0.99;

enum { STEPS = 6 }; /* to less than a hundredth */

/* What the model says of the plan with other weights; 0 if they cannot be made or run. */
static double estimate_with(const csrconv_plan *plan, const csrconv_weights *weights)
{
    struct csrconv_problem problem = plan->problem;
    struct csrconv_estimate estimate;
    problem.weights = weights;
    return plan->algorithm->estimate(plan->algorithm, &problem, &estimate) ? 0.0 : estimate.us;
}

static double estimate_at(const struct trial *own, double sparsity, uint64_t seed, float *dense)
{
    const csrconv_geometry *g = &own->stage->workload->geometry;
    csrconv_weights *weights = NULL;
    double us = 0.0;
    if (!pattern_generate(g, sparsity, seed, PATTERN_REAL, dense) &&
        !csrconv_weights_from_dense(dense, g->filters, g->channels / g->groups, g->kernel_h,
                                    g->kernel_w, NULL, &weights))
        us = estimate_with(own->plan, weights);
    csrconv_weights_destroy(&weights);
    return us;
}

/* Bisects, as the estimate falls with the sparsity. */
static double crossing(const struct trial *own, double wanted_us, uint64_t seed, float *dense)
{
    double low = payoff_model_lowest, high = payoff_model_highest;
    if (estimate_at(own, low, seed, dense) <= wanted_us)
        return low;
    if (estimate_at(own, high, seed, dense) > wanted_us)
        return 0.0;
    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2.0;
        if (estimate_at(own, middle, seed, dense) > wanted_us)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double payoff_by_model(const struct trial *own, double own_us, double dense_us, uint64_t seed)
{
    const struct workload *w = own->stage->workload;
    const double estimated = estimate_with(own->plan, w->weights);
    const csrconv_geometry *g = &w->geometry;
    const size_t weights =
        (size_t)(g->filters * (g->channels / g->groups) * g->kernel_h * g->kernel_w);
    float *dense = malloc(weights * sizeof *dense);
    const double sparsity =
        dense && estimated > 0.0 ? crossing(own, dense_us * estimated / own_us, seed, dense) : 0.0;
    free(dense);
    return sparsity;
}
