/*
 * Measures tilings of cuda_tiled beside what they are estimated to take: what the constants in
 * cuda/block_cost.c are fitted to.
 *
 *   tiling_sweep SPARSITY COUNT PROBLEM ...     the COUNT best by estimate of each problem, as CSV
 */
#include "block_tiling.h"
#include "complain.h"
#include "cuda_tiled.h"
#include "sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void keep(void *context, const struct csrconv_block_tiling *tiling)
{
    sweep_keep(context, tiling);
}

static int by_estimate(const void *a, const void *b)
{
    const struct csrconv_block_tiling *x = a, *y = b;
    return (x->us > y->us) - (x->us < y->us);
}

static int64_t list_tilings(const struct csrconv_problem *problem, void *tilings, int64_t most)
{
    struct sweep_list list = { tilings, sizeof(struct csrconv_block_tiling), 0, most };
    struct csrconv_block_machine machine;
    if (csrconv_tiled_machine(&machine))
        return -1;
    csrconv_block_tiling_each(problem, &machine, keep, &list);
    qsort(tilings, (size_t)list.count, list.size, by_estimate);
    return list.count;
}

static csrconv_status prepare(const struct csrconv_problem *problem, const void *tiling,
                              struct csrconv_prepared *prepared)
{
    return csrconv_tiled_prepare_as(problem, tiling, prepared);
}

static void print(const void *tiling)
{
    const struct csrconv_block_tiling *t = tiling;
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    printf("%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
           ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.2f",
           k->filters, k->pixels, t->filter_ways, t->pixel_ways, t->patch.images, t->patch.rows,
           t->patch.columns, t->patch.vector, t->stages, t->stage_channels, t->ring, t->residents,
           t->blocks, t->us);
}

static const struct sweep sweep = {
    .algorithm = "cuda_tiled",
    .header = "filters,pixels,filter_ways,pixel_ways,images,rows,columns,vector,stages,"
              "stage_channels,ring,residents,blocks,estimate_us",
    .size = sizeof(struct csrconv_block_tiling),
    .list = list_tilings,
    .prepare = prepare,
    .print = print,
};

int main(int argc, char **argv)
{
    int code = EXIT_DONE;
    if (argc < 4)
        code = complain(EXIT_BAD, "usage", "tiling_sweep SPARSITY COUNT PROBLEM ...");
    sweep_print_header(&sweep);
    for (int i = 3; i < argc && !code; i++)
        code = sweep_problem(&sweep, argv[i], atof(argv[1]), atoll(argv[2]));
    if (code)
        fprintf(stderr, "tiling_sweep: %s\n", complaint());
    return code;
}
