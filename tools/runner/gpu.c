#include "gpu.h"

#include "choose.h"
#include "cpu_model.h"
#include "cuda_model.h"
#include "nvml.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

int gpu_count(void)
{
    int count = 0;
    if (!cudaGetDeviceCount(&count))
        return count;
    (void)cudaGetLastError();
    return 0;
}

/* The driver's own version where its library tells, else that of CUDA which it is for. */
static void describe_driver(char *text, size_t size)
{
    int cuda = 0;
    if (nvml_driver(text, size))
        return;
    if (cudaDriverGetVersion(&cuda))
        (void)cudaGetLastError();
    if (cuda)
        snprintf(text, size, "of CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

static int64_t clock_mhz(int ordinal)
{
    char bus[32];
    if (!cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal))
        return nvml_sm_clock_mhz(bus);
    (void)cudaGetLastError();
    return 0;
}

void gpu_describe(int ordinal, struct place_device *device)
{
    struct cudaDeviceProp properties;
    *device = (struct place_device){ .name = "unknown GPU" };
    describe_driver(device->driver, sizeof device->driver);
    if (cudaGetDeviceProperties(&properties, ordinal)) {
        (void)cudaGetLastError();
        return;
    }
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1,
             properties.name);
    snprintf(device->detail, sizeof device->detail,
             "compute capability %d.%d, %d multiprocessors, %.1f GiB", properties.major,
             properties.minor, properties.multiProcessorCount,
             (double)properties.totalGlobalMem / (double)(1U << 30));
    device->clock_mhz = clock_mhz(ordinal);
}

/* Bytes of the batch that no kernel can leave out, over those that the memory moves in a us. */
static double memory_floor_us(const struct csrconv_problem *problem, bool is_dense)
{
    const struct csrconv_shape *shape = &problem->shape;
    const csrconv_geometry *g = &shape->g;
    const double in = (double)g->channels * (double)g->height * (double)g->width;
    const double out = (double)shape->out_image * (problem->epilogue.residual ? 2.0 : 1.0);
    const double weights = is_dense ? (double)g->filters * (double)shape->columns
                                    : 2.0 * (double)csrconv_nonzeros(problem->weights);
    int ordinal, kilohertz, bits;
    if (cudaGetDevice(&ordinal) ||
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, ordinal) ||
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) || kilohertz <= 0 ||
        bits <= 0) {
        (void)cudaGetLastError();
        return 0.0;
    }
    /* Two transfers a clock, of bits / 8 bytes. */
    return sizeof(float) * ((double)g->batch * (in + out) + weights) /
           (2.0 * (double)kilohertz * 1e-3 * (double)bits / 8.0);
}

/* Whether each nonzero wants a load of its own: vendors do not say. */
static bool loads_for_each_product(const csrconv_algorithm_info *info)
{
    const struct csrconv_algorithm *algorithm = csrconv_find_algorithm(info->name, NULL);
    return algorithm && !algorithm->shares_loads;
}

/* Tensor cores have no floor here, and a dense kernel loads an operand for many products. */
struct floors gpu_floors(const struct csrconv_problem *problem,
                         const csrconv_algorithm_info *algorithm)
{
    const double sparse_us = csrconv_cuda_fma_floor_us(problem);
    const double products = csrconv_sparse_products(problem);
    struct floors floors = { .memory_us = memory_floor_us(problem, algorithm->is_dense) };
    if (!algorithm->is_dense) {
        floors.multiply_us = sparse_us;
        floors.load_us =
            loads_for_each_product(algorithm) ? csrconv_cuda_load_floor_us(problem) : 0.0;
    } else if (strcmp(algorithm->math, "fp32") == 0 && products > 0.0) {
        floors.multiply_us = sparse_us / products * csrconv_dense_products(&problem->shape);
    }
    return floors;
}
