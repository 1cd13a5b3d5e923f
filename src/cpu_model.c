#include "cpu_model.h"

/*
 * A GEMM-lowered convolution in AVX2, with its im2col: multiply-adds per microsecond and thread.
 * OpenBLAS 0.3.21 on a Zen 4 server core at 3.7 GHz reaches 25-40 thousand on layers of 64 channels
 * and more.
 */
static const double dense_per_us = 30e3;

double csrconv_dense_products(const struct csrconv_shape *shape)
{
    return (double)shape->g.batch * (double)shape->out_image * (double)shape->columns;
}

double csrconv_sparse_products(const struct csrconv_problem *problem)
{
    return (double)problem->shape.g.batch * (double)problem->shape.out_plane *
           (double)csrconv_nonzeros(problem->weights);
}

double csrconv_cpu_time_us(const struct csrconv_problem *problem, double amount, double per_us)
{
    return amount / per_us / (double)problem->team.threads;
}

double csrconv_cpu_dense_us(const struct csrconv_problem *problem)
{
    return csrconv_cpu_time_us(problem, csrconv_dense_products(&problem->shape), dense_per_us);
}
