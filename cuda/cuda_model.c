#include "cuda_model.h"

#include "cpu_model.h"
#include "runtime.h"

/* `lanes` products a clock and multiprocessor. */
static double floor_us(const struct csrconv_problem *problem, double lanes)
{
    struct csrconv_cuda_device device;
    if (csrconv_cuda_describe(&device))
        return 0.0;
    return csrconv_sparse_products(problem) / (lanes * device.processors * device.clock_ghz * 1e3);
}

double csrconv_cuda_load_floor_us(const struct csrconv_problem *problem)
{
    return floor_us(problem, 32.0);
}

double csrconv_cuda_fma_floor_us(const struct csrconv_problem *problem)
{
    return floor_us(problem, 128.0);
}

double csrconv_cuda_lowering_us(const struct csrconv_shape *shape)
{
    const double floats_per_us = 0.5e6; /* some TB/s */
    return (double)shape->g.batch * (double)shape->g.groups * (double)shape->columns *
           (double)shape->out_plane / floats_per_us;
}
