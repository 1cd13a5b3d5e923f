/*
 * The blocked kernels without one of their choices, each as an algorithm of its own, so that it is
 * planned, verified and timed like any other: what the choice is worth is the ratio of the times.
 */
#ifndef CSRCONV_TOOLS_ABLATION_H
#define CSRCONV_TOOLS_ABLATION_H

#include "csrconv.h"

/* NULL-ended; the first, "complete", is without nothing. All refuse where no blocked kernel runs.
 */
extern const csrconv_algorithm *const ablation_table[];

#endif
