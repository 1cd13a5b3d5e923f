#include "check.h"

#include "selection.h"
#include "trial.h"

#include <stdlib.h>

/* The results of the algorithms on one kind of data. */
struct pass {
    const struct check_request *request;
    struct workload workload;
    struct reference reference;
    struct stage stage;
    struct trial *trials; /* selection_count() */
};

static bool is_wanted(const struct check_request *request, int index)
{
    return request->wanted[index] && selection_info(index).device == request->device;
}

/* A trial that passed, other than `index`, to hold against what a sampled reference leaves out. */
static struct trial *other_that_passed(struct pass *pass, int index)
{
    for (int i = 0; i < selection_count(); i++)
        if (i != index && pass->trials[i].plan && pass->trials[i].status == TRIAL_PASSED)
            return &pass->trials[i];
    return NULL;
}

static void run_trials(struct pass *pass, int64_t n)
{
    const struct check_request *request = pass->request;
    for (int i = 0; i < selection_count(); i++) {
        if (!is_wanted(request, i))
            continue;
        trial_make(&pass->stage, selection_algorithm(i), request->threads, &pass->trials[i]);
        trial_verify(&pass->trials[i], &pass->reference, n);
    }
    for (int i = 0; i < selection_count() && !pass->reference.is_full; i++) {
        struct trial *other = other_that_passed(pass, i);
        if (other && pass->trials[i].plan && pass->trials[i].status == TRIAL_PASSED)
            trial_cross_check(&pass->trials[i], other);
    }
}

static void pass_free(struct pass *pass)
{
    for (int i = 0; i < selection_count() && pass->trials; i++)
        if (pass->trials[i].stage)
            trial_free(&pass->trials[i]);
    free(pass->trials);
    stage_free(&pass->stage);
    reference_free(&pass->reference);
    workload_free(&pass->workload);
}

static int pass_run(const struct check_request *request, const struct grid_case *problem,
                    bool is_exact, struct pass *pass)
{
    struct workload_options options = problem->options;
    int code;
    options.seed = request->seed;
    options.is_exact = is_exact;
    pass->request = request;
    pass->trials = calloc((size_t)selection_count(), sizeof *pass->trials);
    if (!pass->trials)
        return complain(EXIT_WRONG, "memory", "no room for the trials");
    if ((code = workload_make(&problem->geometry, &options, &pass->workload)) ||
        (code = reference_make(&pass->workload, request->seed, &pass->reference)) ||
        (code = stage_make(&pass->workload, request->device, request->ordinal, &pass->stage)))
        return code;
    run_trials(pass, problem->n);
    return EXIT_DONE;
}

/* The worse of the two passes is the result. */
static void count_algorithm(const struct check_request *request, const struct grid_case *problem,
                            const struct pass passes[2], int index, struct check_count *count)
{
    const struct trial *exact = &passes[0].trials[index], *real = &passes[1].trials[index];
    const struct trial *told = exact->status == TRIAL_FAILED ? exact : real;
    count->passed += told->status == TRIAL_PASSED;
    count->failed += told->status == TRIAL_FAILED;
    count->skipped += told->status == TRIAL_REFUSED;
    if (request->tell)
        request->tell(problem, told->algorithm.name, (int)told->status,
                      told->status == TRIAL_PASSED ? NULL : told->reason, real->max_error);
}

/*
 * Failures of a pass after which the next one could not even begin: a fault takes the GPU from all
 * that follows, and what is told then must name the algorithm.
 */
static void tell_failures(const struct check_request *request, const struct grid_case *problem,
                          const struct pass *pass, struct check_count *count)
{
    for (int i = 0; i < selection_count() && pass->trials; i++) {
        const struct trial *trial = &pass->trials[i];
        if (trial->status != TRIAL_FAILED)
            continue;
        count->failed++;
        if (request->tell)
            request->tell(problem, trial->algorithm.name, TRIAL_FAILED, trial->reason, 0.0);
    }
}

int check_problem(const struct check_request *request, const struct grid_case *problem,
                  struct check_count *count, bool *ran)
{
    struct pass passes[2] = { 0 };
    int code = EXIT_DONE;
    *ran = false;
    for (int i = 0; i < 2 && !code; i++)
        code = pass_run(request, problem, i == 0, &passes[i]);
    if (code)
        tell_failures(request, problem, &passes[0], count);
    for (int i = 0; i < selection_count() && !code; i++) {
        if (!is_wanted(request, i))
            continue;
        count_algorithm(request, problem, passes, i, count);
        *ran = *ran || passes[1].trials[i].status != TRIAL_REFUSED;
    }
    for (int i = 0; i < 2; i++)
        pass_free(&passes[i]);
    return code;
}
