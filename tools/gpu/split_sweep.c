/*
 * Measures tilings of cuda_split: what the constants in cuda/split_cost.c are fitted to.
 *
 *   split_sweep SPARSITY COUNT PROBLEM ...
 */
#include "cuda_split.h"
#include "sweep.h"

#include <inttypes.h>

enum { STANDARD_SPARE_PERCENT = 110 };

static void append(void *list, const struct csrconv_split_tiling *tiling)
{
    sweep_append(list, tiling);
}

static csrconv_status list_tilings(const struct csrconv_algorithm *algorithm,
                                   const struct csrconv_problem *problem, void *list)
{
    struct csrconv_split_machine machine;
    const csrconv_status status = csrconv_split_describe(algorithm, &machine);
    if (!status)
        csrconv_split_tiling_each(problem, &machine, STANDARD_SPARE_PERCENT / 100.0, append, list);
    return status;
}

static double estimate_us(const void *tiling)
{
    return ((const struct csrconv_split_tiling *)tiling)->block.us;
}

static csrconv_status prepare(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared)
{
    return csrconv_split_prepare_as(problem, tiling, prepared);
}

static void print(const void *tiling, FILE *file)
{
    const struct csrconv_split_tiling *split = tiling;
    const struct csrconv_block_tiling *t = &split->block;
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    fprintf(file,
            "%" PRId64 ",%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
            ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d",
            split->places, k->pixels, t->filter_ways, t->pixel_ways, t->patch.images, t->patch.rows,
            t->patch.columns, t->patch.channel, t->stages, t->stage_channels, t->residents,
            t->blocks, split->adder == CSRCONV_ADD_IN_PASS);
}

int main(int argc, char **argv)
{
    static const struct sweep_kernel kernel = {
        .algorithm = "cuda_split",
        .columns = "places,pixels,filter_ways,pixel_ways,images,rows,columns,words,chunks,"
                   "chunk_channels,residents,blocks,pass",
        .tiling_bytes = sizeof(struct csrconv_split_tiling),
        .list = list_tilings,
        .estimate_us = estimate_us,
        .prepare = prepare,
        .print = print,
    };
    return sweep_main(&kernel, argc, argv);
}
