#include "sweep.h"

#include "choose.h"
#include "complain.h"
#include "plan.h"
#include "problem/descriptor.h"
#include "runner/stage.h"
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, UNTIMED = 2, EXECUTES = 4 /* in a run */, MOST = 100000 };

void sweep_keep(struct sweep_list *list, const void *tiling)
{
    if (list->count < list->most)
        memcpy((char *)list->tilings + (size_t)list->count++ * list->size, tiling, list->size);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int time_run(const struct csrconv_algorithm *algorithm,
                    const struct csrconv_prepared *prepared, const struct csrconv_run *run,
                    const cudaEvent_t events[2], float *ms)
{
    if (cudaEventRecord(events[0], run->stream))
        return EXIT_WRONG;
    for (int i = 0; i < EXECUTES; i++)
        if (algorithm->execute(prepared->state, run))
            return EXIT_WRONG;
    return cudaEventRecord(events[1], run->stream) || cudaStreamSynchronize(run->stream) ||
                   cudaEventElapsedTime(ms, events[0], events[1])
               ? EXIT_WRONG
               : EXIT_DONE;
}

/* The median of an execute, in microseconds; less than 0 if it fails. */
static double time_tiling(const struct csrconv_algorithm *algorithm,
                          const struct csrconv_prepared *prepared, const struct csrconv_run *run)
{
    cudaEvent_t events[2] = { NULL, NULL };
    float ms[UNTIMED + RUNS];
    int code = cudaEventCreate(&events[0]) || cudaEventCreate(&events[1]) ? EXIT_WRONG : EXIT_DONE;
    for (int i = 0; i < UNTIMED + RUNS && !code; i++)
        code = time_run(algorithm, prepared, run, events, &ms[i]);
    for (int i = 0; i < 2; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (code)
        return -1.0;
    qsort(ms + UNTIMED, RUNS, sizeof *ms, ascending);
    return (double)ms[UNTIMED + RUNS / 2] * 1e3 / EXECUTES;
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

static struct csrconv_run run_of(const struct csrconv_plan *plan, struct stage *stage)
{
    return (struct csrconv_run){ .shape = &plan->problem.shape,
                                 .epilogue = &plan->problem.epilogue,
                                 .team = &plan->problem.team,
                                 .n = plan->problem.shape.g.batch,
                                 .in = stage_in(stage),
                                 .out = stage_out(stage),
                                 .stream = stage->place->stream() };
}

/* A row for each; `first` has room for an output. */
static void measure(const struct sweep *sweep, const char *name, double sparsity,
                    const void *tilings, int64_t count, struct stage *stage,
                    struct csrconv_plan *plan, float *first)
{
    const struct csrconv_algorithm *algorithm = csrconv_find_algorithm(sweep->algorithm, NULL);
    const struct csrconv_run run = run_of(plan, stage);
    struct csrconv_problem problem = plan->problem;
    problem.weights = stage->workload->weights;
    for (int64_t i = 0; i < count; i++) {
        const void *tiling = (const char *)tilings + (size_t)i * sweep->size;
        struct csrconv_prepared prepared = { .memory = plan->memory };
        double us = -1.0;
        stage_clear_output(stage);
        if (!sweep->prepare(&problem, tiling, &prepared))
            us = time_tiling(algorithm, &prepared, &run);
        printf("%s,%g,", name, sparsity);
        sweep->print(tiling);
        printf(",%.2f,%d\n", us, differs(stage, first, i == 0));
        fflush(stdout);
        algorithm->destroy(&plan->memory, prepared.state);
    }
}

static int measure_best(const struct sweep *sweep, const char *name, double sparsity, int64_t count,
                        struct stage *stage, struct csrconv_plan *plan)
{
    struct csrconv_problem problem = plan->problem;
    float *first = malloc((size_t)stage->result.block_floats * sizeof *first);
    void *tilings = malloc(MOST * sweep->size);
    int64_t found = -1;
    int code = EXIT_DONE;
    problem.weights = stage->workload->weights;
    if (!first || !tilings)
        code = complain(EXIT_WRONG, name, "no room for an output and a list");
    else if ((found = sweep->list(&problem, tilings, MOST)) < 0)
        code = complain(EXIT_WRONG, name, "%s", csrconv_last_error());
    else
        measure(sweep, name, sparsity, tilings, found < count ? found : count, stage, plan, first);
    free(tilings);
    free(first);
    return code;
}

int sweep_problem(const struct sweep *sweep, const char *text, double sparsity, int64_t count)
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
    plan_options.algorithm = "cuda_direct"; /* any that is soon made: each tiling gets its own */
    if ((code = descriptor_parse(text, text, &problem)) ||
        (code = workload_make(&problem.geometry, &options, &workload)) ||
        (code = stage_make(&workload, CSRCONV_DEVICE_CUDA, 0, &stage)))
        return code;
    if (csrconv_plan_create(workload.weights, &workload.geometry, &plan_options, &plan))
        code = complain(EXIT_WRONG, text, "%s", csrconv_last_error());
    else
        code = measure_best(sweep, text, sparsity, count, &stage, plan);
    csrconv_plan_destroy(&plan);
    stage_free(&stage);
    workload_free(&workload);
    return code;
}

void sweep_print_header(const struct sweep *sweep)
{
    printf("problem,sparsity,%s,us,differs\n", sweep->header);
}
