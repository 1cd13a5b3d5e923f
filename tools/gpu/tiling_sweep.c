/*
 * Measures tilings of cuda_tiled beside what they are estimated to take: what the constants in
 * cuda/block_cost.c are fitted to.
 *
 *   tiling_sweep SPARSITY COUNT PROBLEM ...     the COUNT best by estimate of each problem, as CSV
 */
#include "block_tiling.h"
#include "choose.h"
#include "complain.h"
#include "cuda_tiled.h"
#include "plan.h"
#include "problem/descriptor.h"
#include "runner/stage.h"
#include "runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, UNTIMED = 2, EXECUTES = 4 /* in a run */, MOST = 100000 };

struct list {
    struct csrconv_block_tiling *tilings;
    int64_t count;
};

static void keep(void *context, const struct csrconv_block_tiling *tiling)
{
    struct list *list = context;
    if (list->count < MOST)
        list->tilings[list->count++] = *tiling;
}

static int by_estimate(const void *a, const void *b)
{
    const struct csrconv_block_tiling *x = a, *y = b;
    return (x->us > y->us) - (x->us < y->us);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int time_run(const struct csrconv_prepared *prepared, const struct csrconv_run *run,
                    const cudaEvent_t events[2], float *ms)
{
    const struct csrconv_algorithm *tiled = csrconv_find_algorithm("cuda_tiled", NULL);
    if (cudaEventRecord(events[0], run->stream))
        return EXIT_WRONG;
    for (int i = 0; i < EXECUTES; i++)
        if (tiled->execute(prepared->state, run))
            return EXIT_WRONG;
    return cudaEventRecord(events[1], run->stream) || cudaStreamSynchronize(run->stream) ||
                   cudaEventElapsedTime(ms, events[0], events[1])
               ? EXIT_WRONG
               : EXIT_DONE;
}

/* The median of an execute, in microseconds; less than 0 if it fails. */
static double time_tiling(const struct csrconv_prepared *prepared, const struct csrconv_run *run)
{
    cudaEvent_t events[2] = { NULL, NULL };
    float ms[UNTIMED + RUNS];
    int code = cudaEventCreate(&events[0]) || cudaEventCreate(&events[1]) ? EXIT_WRONG : EXIT_DONE;
    for (int i = 0; i < UNTIMED + RUNS && !code; i++)
        code = time_run(prepared, run, events, &ms[i]);
    for (int i = 0; i < 2; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (code)
        return -1.0;
    qsort(ms + UNTIMED, RUNS, sizeof *ms, ascending);
    return (double)ms[UNTIMED + RUNS / 2] * 1e3 / EXECUTES;
}

static void print_row(const char *name, double sparsity, const struct csrconv_block_tiling *t,
                      double us, int differs)
{
    const struct csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    printf("%s,%g,%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
           ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.2f,%.2f,%d\n",
           name, sparsity, k->filters, k->pixels, t->filter_ways, t->pixel_ways, t->patch.images,
           t->patch.rows, t->patch.columns, t->patch.vector, t->stages, t->stage_channels, t->ring,
           t->residents, t->blocks, t->us, us, differs);
}

/* Whether the output is that of the first tiling. */
static int differs(struct stage *stage, float *first, int is_first)
{
    const size_t bytes = (size_t)stage->result.block_floats * sizeof(float);
    if (stage_fetch_output(stage))
        return 1;
    if (is_first)
        memcpy(first, stage->result.block, bytes);
    return memcmp(first, stage->result.block, bytes) != 0;
}

static int sweep(const char *name, double sparsity, int64_t count, struct stage *stage,
                 struct csrconv_plan *plan)
{
    static struct csrconv_block_tiling tilings[MOST];
    struct csrconv_problem problem = plan->problem;
    struct list list = { tilings, 0 };
    struct csrconv_block_machine machine;
    const struct csrconv_run run = { .shape = &plan->problem.shape,
                                     .epilogue = &plan->problem.epilogue,
                                     .team = &plan->problem.team,
                                     .n = plan->problem.shape.g.batch,
                                     .in = stage_in(stage),
                                     .out = stage_out(stage),
                                     .stream = stage->place->stream() };
    float *first = malloc((size_t)stage->result.block_floats * sizeof *first);
    problem.weights = stage->workload->weights;
    if (!first || csrconv_tiled_machine(&machine)) {
        const char *why = first ? csrconv_last_error() : "no room for an output";
        free(first);
        return complain(EXIT_WRONG, name, "%s", why);
    }
    csrconv_block_tiling_each(&problem, &machine, keep, &list);
    qsort(tilings, (size_t)list.count, sizeof *tilings, by_estimate);
    for (int64_t i = 0; i < list.count && i < count; i++) {
        struct csrconv_prepared prepared = { .memory = plan->memory };
        double us = -1.0;
        stage_clear_output(stage);
        if (!csrconv_tiled_prepare_as(&problem, &tilings[i], &prepared))
            us = time_tiling(&prepared, &run);
        print_row(name, sparsity, &tilings[i], us, differs(stage, first, i == 0));
        csrconv_find_algorithm("cuda_tiled", NULL)->destroy(&plan->memory, prepared.state);
    }
    free(first);
    return EXIT_DONE;
}

static int sweep_problem(const char *text, double sparsity, int64_t count)
{
    const struct workload_options options = { .seed = 1, .sparsity = sparsity };
    csrconv_plan_options plan_options;
    struct workload workload = { 0 };
    struct stage stage = { 0 };
    struct problem problem;
    csrconv_plan *plan = NULL;
    int code;
    csrconv_plan_options_init(&plan_options);
    plan_options.device = CSRCONV_DEVICE_CUDA;
    plan_options.algorithm = "cuda_tiled";
    if ((code = descriptor_parse(text, text, &problem)) ||
        (code = workload_make(&problem.geometry, &options, &workload)) ||
        (code = stage_make(&workload, CSRCONV_DEVICE_CUDA, 0, &stage)))
        return code;
    if (csrconv_plan_create(workload.weights, &workload.geometry, &plan_options, &plan))
        code = complain(EXIT_WRONG, text, "%s", csrconv_last_error());
    else
        code = sweep(text, sparsity, count, &stage, plan);
    csrconv_plan_destroy(&plan);
    stage_free(&stage);
    workload_free(&workload);
    return code;
}

int main(int argc, char **argv)
{
    int code = EXIT_DONE;
    if (argc < 4)
        code = complain(EXIT_BAD, "usage", "tiling_sweep SPARSITY COUNT PROBLEM ...");
    printf("problem,sparsity,filters,pixels,filter_ways,pixel_ways,images,rows,columns,vector,"
           "stages,stage_channels,ring,residents,blocks,estimate_us,us,differs\n");
    for (int i = 3; i < argc && !code; i++)
        code = sweep_problem(argv[i], atof(argv[1]), atoll(argv[2]));
    if (code)
        fprintf(stderr, "tiling_sweep: %s\n", complaint());
    return code;
}
