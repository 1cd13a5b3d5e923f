/*
 * Measures tilings of cuda_tiled: what the constants in cuda/block_cost.c are fitted to.
 *
 *   tiling_sweep SPARSITY COUNT PROBLEM ...
 */
#include "block_tiling.h"
#include "cuda_tiled.h"
#include "sweep.h"

#include <inttypes.h>

static void append(void *list, const struct csrconv_block_tiling *tiling)
{
    sweep_append(list, tiling);
}

static csrconv_status list_tilings(const struct csrconv_algorithm *algorithm,
                                   const struct csrconv_problem *problem, void *list)
{
    struct csrconv_block_machine machine;
    const csrconv_status status = csrconv_tiled_machine(&machine);
    (void)algorithm;
    if (!status)
        csrconv_block_tiling_each(problem, &machine, append, list);
    return status;
}

static double estimate_us(const void *tiling)
{
    return ((const struct csrconv_block_tiling *)tiling)->us;
}

static csrconv_status prepare(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared)
{
    return csrconv_tiled_prepare_as(problem, tiling, prepared);
}

static void print(const void *tiling, FILE *file)
{
    const struct csrconv_block_tiling *t = tiling;
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    fprintf(file,
            "%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
            ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
            k->filters, k->pixels, t->filter_ways, t->pixel_ways, t->patch.images, t->patch.rows,
            t->patch.columns, t->patch.vector, t->stages, t->stage_channels, t->ring, t->residents,
            t->blocks);
}

int main(int argc, char **argv)
{
    static const struct sweep_kernel kernel = {
        .algorithm = "cuda_tiled",
        .columns = "filters,pixels,filter_ways,pixel_ways,images,rows,columns,vector,stages,"
                   "stage_channels,ring,residents,blocks",
        .tiling_bytes = sizeof(struct csrconv_block_tiling),
        .list = list_tilings,
        .estimate_us = estimate_us,
        .prepare = prepare,
        .print = print,
    };
    return sweep_main(&kernel, argc, argv);
}
