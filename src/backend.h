/*
 * What the portable part asks of the CUDA backend. cuda/backend.c answers, or src/no_cuda.c in a
 * build without one.
 */
#ifndef CSRCONV_BACKEND_H
#define CSRCONV_BACKEND_H

#include "algorithm.h"

/* CSRCONV_OK if kernels of this build run on that GPU; else why not. */
csrconv_status csrconv_cuda_usable(int ordinal);

/* Makes a GPU current for the calling thread; *previous is what csrconv_cuda_leave restores. */
csrconv_status csrconv_cuda_enter(int ordinal, int *previous);
void csrconv_cuda_leave(int previous);

/* Microseconds of a good dense fp32 convolution on the current GPU. */
double csrconv_cuda_dense_us(const struct csrconv_problem *problem);

#endif
