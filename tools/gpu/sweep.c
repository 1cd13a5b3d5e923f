#include "sweep.h"

#include "choose.h"
#include "complain.h"
#include "number.h"
#include "plan.h"
#include "problem/descriptor.h"
#include "runner/stage.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAYS = 7, EXECUTES = 20 /* in a graph */ };

struct list {
    const struct sweep_kernel *kernel;
    char *tilings;
    size_t count, room;
};

void sweep_append(void *context, const void *tiling)
{
    struct list *list = context;
    const size_t bytes = list->kernel->tiling_bytes;
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 1024;
        char *more = realloc(list->tilings, room * bytes);
        if (!more)
            return;
        list->tilings = more;
        list->room = room;
    }
    memcpy(list->tilings + list->count++ * bytes, tiling, bytes);
}

static const struct sweep_kernel *sorted_for; /* qsort hands its order nothing */

static int by_estimate(const void *a, const void *b)
{
    const double x = sorted_for->estimate_us(a), y = sorted_for->estimate_us(b);
    return (x > y) - (x < y);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A prepared tiling and the tensors that it runs on. */
struct call {
    const struct csrconv_algorithm *algorithm;
    const struct csrconv_prepared *prepared;
    struct csrconv_run run;
};

static csrconv_status execute(const void *context)
{
    const struct call *call = context;
    return call->algorithm->execute(call->prepared->state, &call->run);
}

/* The median of an execute, in microseconds; less than 0 if it fails. */
static double time_call(const struct place *place, const struct call *call)
{
    struct row row = {
        .name = call->algorithm->info.name, .call = execute, .context = call, .count = EXECUTES
    };
    double us[REPLAYS];
    int code = place->record(&row);
    if (!code)
        code = place->warm(&row);
    for (int i = 0; i < REPLAYS && !code; i++)
        code = place->replay(&row, &us[i]);
    place->forget(&row);
    if (code)
        return -1.0;
    qsort(us, REPLAYS, sizeof *us, ascending);
    return us[REPLAYS / 2] / EXECUTES;
}

/* Whether the output is another than that of the first tiling. */
static int differs(struct stage *stage, float *first, int is_first)
{
    const size_t bytes = (size_t)stage->result.block_floats * sizeof(float);
    if (stage_fetch_output(stage))
        return 1;
    if (is_first)
        memcpy(first, stage->result.block, bytes);
    return memcmp(first, stage->result.block, bytes) != 0;
}

/* Plans and times one tiling; its time, or less than 0. */
static double measure(const struct sweep_kernel *kernel, const struct csrconv_plan *plan,
                      const struct csrconv_problem *problem, struct stage *stage,
                      const void *tiling)
{
    struct csrconv_prepared prepared = { .memory = plan->memory };
    struct call call = { .algorithm = csrconv_find_algorithm(kernel->algorithm, NULL),
                         .prepared = &prepared,
                         .run = { .shape = &problem->shape,
                                  .epilogue = &problem->epilogue,
                                  .team = &problem->team,
                                  .n = problem->shape.g.batch,
                                  .in = stage_in(stage),
                                  .out = stage_out(stage),
                                  .stream = stage->place->stream() } };
    void *workspace = NULL;
    double us = -1.0;
    stage_clear_output(stage);
    if (!kernel->prepare(problem, tiling, &prepared)) {
        if (prepared.workspace_bytes)
            call.run.workspace = workspace = stage->place->allocate(prepared.workspace_bytes);
        if (!prepared.workspace_bytes || workspace)
            us = time_call(stage->place, &call);
    }
    call.algorithm->destroy(&plan->memory, prepared.state);
    stage->place->release(workspace);
    return us;
}

/* The half that is best by estimate, then one of every so many. */
static size_t rank_of(size_t i, size_t take, size_t count)
{
    const size_t best = take / 2;
    return i < best ? i : best + (i - best) * (count - best) / (take - best);
}

static int measure_list(const struct sweep_kernel *kernel, const char *name, double sparsity,
                        size_t take, const struct list *list, struct stage *stage,
                        const struct csrconv_plan *plan)
{
    struct csrconv_problem problem = plan->problem;
    float *first = malloc((size_t)stage->result.block_floats * sizeof *first);
    if (!first)
        return complain(EXIT_WRONG, name, "no room for an output");
    problem.weights = stage->workload->weights;
    for (size_t i = 0; i < take; i++) {
        const char *tiling = list->tilings + rank_of(i, take, list->count) * kernel->tiling_bytes;
        const double us = measure(kernel, plan, &problem, stage, tiling);
        printf("%s,%g,", name, sparsity);
        kernel->print(tiling, stdout);
        printf(",%.2f,%.2f,%d\n", kernel->estimate_us(tiling), us, differs(stage, first, i == 0));
        fflush(stdout);
    }
    free(first);
    return EXIT_DONE;
}

static int sweep_plan(const struct sweep_kernel *kernel, const char *name, double sparsity,
                      size_t count, struct stage *stage, const struct csrconv_plan *plan)
{
    struct list list = { .kernel = kernel };
    struct csrconv_problem problem = plan->problem;
    int code;
    problem.weights = stage->workload->weights;
    if (kernel->list(csrconv_find_algorithm(kernel->algorithm, NULL), &problem, &list)) {
        free(list.tilings);
        return complain(EXIT_WRONG, name, "%s", csrconv_last_error());
    }
    sorted_for = kernel;
    qsort(list.tilings, list.count, kernel->tiling_bytes, by_estimate);
    code = measure_list(kernel, name, sparsity, count < list.count ? count : list.count, &list,
                        stage, plan);
    free(list.tilings);
    return code;
}

int sweep_problem(const struct sweep_kernel *kernel, const char *text, double sparsity,
                  int64_t count)
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
    plan_options.algorithm = "cuda_direct"; /* soon made: each tiling gets its own */
    if ((code = descriptor_parse(text, text, &problem)) ||
        (code = workload_make(&problem.geometry, &options, &workload)) ||
        (code = stage_make(&workload, CSRCONV_DEVICE_CUDA, 0, &stage)))
        return code;
    if (csrconv_plan_create(workload.weights, &workload.geometry, &plan_options, &plan))
        code = complain(EXIT_WRONG, text, "%s", csrconv_last_error());
    else
        code = sweep_plan(kernel, text, sparsity, (size_t)count, &stage, plan);
    csrconv_plan_destroy(&plan);
    stage_free(&stage);
    workload_free(&workload);
    return code;
}

void sweep_header(const struct sweep_kernel *kernel)
{
    printf("problem,sparsity,%s,estimate_us,us,differs\n", kernel->columns);
}

int sweep_numbers(char **argv, double *sparsity, int64_t *count)
{
    const int code = number_real("SPARSITY", argv[1], 0.0, 1.0, sparsity);
    return code ? code : number_whole("COUNT", argv[2], 1, INT32_MAX, count);
}

static int sweep_arguments(const struct sweep_kernel *kernel, int argc, char **argv)
{
    double sparsity;
    int64_t count;
    int code;
    if (argc < 4)
        return complain(EXIT_BAD, "usage", "SPARSITY COUNT PROBLEM ...");
    code = sweep_numbers(argv, &sparsity, &count);
    if (!code)
        sweep_header(kernel);
    for (int i = 3; i < argc && !code; i++)
        code = sweep_problem(kernel, argv[i], sparsity, count);
    return code;
}

int sweep_main(const struct sweep_kernel *kernel, int argc, char **argv)
{
    const int code = sweep_arguments(kernel, argc, argv);
    if (code)
        fprintf(stderr, "%s: %s\n", argv[0], complaint());
    return code;
}
