/* What CPU algorithms are estimated to take, by rates per thread; each says whence it is. */
#ifndef CSRCONV_CPU_MODEL_H
#define CSRCONV_CPU_MODEL_H

#include "algorithm.h"

/* Multiply-adds of the dense convolution of the whole batch, zeros included. */
double csrconv_dense_products(const struct csrconv_shape *shape);

/* Multiply-adds that the nonzeros need over the whole batch. */
double csrconv_sparse_products(const struct csrconv_problem *problem);

/* Microseconds for `amount` of something done at `per_us` a thread by a team. */
double csrconv_cpu_time_us(const struct csrconv_problem *problem, double amount, double per_us);

/* Microseconds of a good dense convolution on this CPU, layout kept: the bar to clear. */
double csrconv_cpu_dense_us(const struct csrconv_problem *problem);

#endif
