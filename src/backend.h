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

/* What tells the current GPU from others that run the same code in other times: its model. */
csrconv_status csrconv_cuda_model(char *text, size_t bytes);

/* Memory of the current GPU, counted in memory->bytes; with a copy of `from` unless that is NULL.
 */
csrconv_status csrconv_cuda_take(struct csrconv_memory *memory, int64_t floats, const float *from,
                                 void **out);
void csrconv_cuda_give_back(void *block);

/* Queues one execute on the stream. */
typedef csrconv_status csrconv_queue_run(void *context, void *stream);

/* *us = the median time of runs on the current GPU, replayed as a graph of several. */
csrconv_status csrconv_cuda_time(csrconv_queue_run *queue, void *context, double *us);

#endif
