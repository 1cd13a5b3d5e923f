/* From which sparsity a layer would pay, where it was measured at one sparsity only. */
#ifndef CSRCONV_TOOLS_PAYOFF_MODEL_H
#define CSRCONV_TOOLS_PAYOFF_MODEL_H

#include "runner/trial.h"

/* The sparsities between which it is sought. */
extern const double payoff_model_lowest, payoff_model_highest;

/*
 * The sparsity at which a sparse algorithm that took own_us would take dense_us: its cost model, on
 * patterns of that seed, multiplied by what it was wrong at the sparsity that was measured. The
 * lowest one if it pays there already; 0 if it pays nowhere, or there is no room for weights.
 */
double payoff_by_model(const struct trial *own, double own_us, double dense_us, uint64_t seed);

#endif
