/* The floors of a GPU, which the estimates of CUDA algorithms are made of. */
#ifndef CSRCONV_CUDA_MODEL_H
#define CSRCONV_CUDA_MODEL_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Microseconds that the current GPU needs at the least if every product loads its input from shared
 * memory or the first cache: 32 words a clock and multiprocessor.
 */
double csrconv_cuda_load_floor_us(const struct csrconv_problem *problem);

/* The same if only the multiply-adds counted: 128 lanes a clock and multiprocessor. */
double csrconv_cuda_fma_floor_us(const struct csrconv_problem *problem);

/* Microseconds that the lowered matrix of the whole batch takes to be written and read once. */
double csrconv_cuda_lowering_us(const struct csrconv_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
