#include "cpu_model.h"

/*
 * A dense convolution in AVX2, in its own layout: multiply-adds per microsecond and thread. About
 * the median of oneDNN in data/results/amd-epyc (gflops_dense / 2 / threads, in thousands): 36 on
 * the layers of AlexNet, 31 on those of GoogLeNet.
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
