#include "cpu_model.h"

#include "cpu_features.h"

/*
 * Multiply-adds in a microsecond and thread of a good dense convolution: nine tenths of what two
 * vector units do at 2.7 GHz. What oneDNN reached is gflops_dense of its rows in data/results/.
 */
static double dense_per_us(void)
{
    const double clocks_per_us = 2.7e3, reached = 0.9;
    const double lanes = csrconv_need_avx512() == CSRCONV_OK ? 16.0
                         : csrconv_need_avx2() == CSRCONV_OK ? 8.0
                                                             : 4.0;
    return 2.0 * lanes * clocks_per_us * reached;
}

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
    return csrconv_cpu_time_us(problem, csrconv_dense_products(&problem->shape), dense_per_us());
}
