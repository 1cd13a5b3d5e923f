#include "bench_parts.h"

#include "complain.h"
#include "format/tensor.h"
#include "runner/machine.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int length_of(const csrconv_algorithm *const *table)
{
    int length = 0;
    while (table && table[length])
        length++;
    return length;
}

static const csrconv_algorithm *algorithm_of(const struct bench *b, int index)
{
    const int selected = selection_count();
    return index < selected ? selection_algorithm(index) : b->request->variants[index - selected];
}

static bool is_of_device(const struct bench *b, int index)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    csrconv_algorithm_describe(algorithm_of(b, index), &info);
    return info.device == b->request->device;
}

static bool is_wanted(const struct bench *b, int index)
{
    return (index >= selection_count() || b->request->wanted[index]) && is_of_device(b, index);
}

/* The automatic choice for this problem, "" if there is none. */
static void find_choice(struct bench *b)
{
    csrconv_plan_options options;
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan *plan;
    csrconv_plan_options_init(&options);
    options.device = b->request->device;
    options.ordinal = b->request->ordinal;
    options.threads = b->threads;
    b->chosen[0] = '\0';
    if (csrconv_plan_create(b->workload.weights, &b->workload.geometry, &options, &plan))
        return;
    csrconv_plan_describe(plan, &info);
    snprintf(b->chosen, sizeof b->chosen, "%s", info.algorithm->info.name);
    csrconv_plan_destroy(&plan);
}

static void verify_trials(struct bench *b)
{
    const int64_t n = b->workload.geometry.batch;
    for (int i = 0; i < b->count; i++) {
        if (!is_wanted(b, i))
            continue;
        trial_make(&b->stage, algorithm_of(b, i), b->threads, &b->trials[i]);
        trial_verify(&b->trials[i], &b->reference, n);
    }
}

static bool has_passed(const struct trial *trial)
{
    return trial->plan && trial->status == TRIAL_PASSED;
}

/* Any other algorithm of the device, wanted or not, that runs this problem. */
static void cross_check(struct bench *b, int index)
{
    struct trial extra;
    for (int i = 0; i < b->count; i++)
        if (i != index && has_passed(&b->trials[i])) {
            trial_cross_check(&b->trials[index], &b->trials[i]);
            return;
        }
    for (int i = 0; i < b->count; i++) {
        bool done;
        if (i == index || is_wanted(b, i) || !is_of_device(b, i))
            continue;
        trial_make(&b->stage, algorithm_of(b, i), b->threads, &extra);
        trial_verify(&extra, &b->reference, b->workload.geometry.batch);
        done = has_passed(&extra);
        if (done)
            trial_cross_check(&b->trials[index], &extra);
        trial_free(&extra);
        if (done)
            return;
    }
}

static void warn_of_others(const struct bench *b, const struct machine_use *start,
                           struct bench_count *count)
{
    const double taken = machine_taken_since(start);
    count->timed++;
    if (taken <= 0.1 || b->request->device != CSRCONV_DEVICE_CPU)
        return;
    count->disturbed++;
    fprintf(stderr, "warning: other processes took %.0f %% of a CPU while %s was timed\n",
            taken * 100.0, b->point->problem->name);
}

static void time_trials(struct bench *b, bool is_cold, struct bench_count *count)
{
    const struct timing_options options = { b->request->min_time_s, is_cold };
    const struct machine_use start = machine_use_now();
    b->timed = 0;
    for (int i = 0; i < b->count; i++)
        if (has_passed(&b->trials[i]))
            b->timings[b->timed++].trial = &b->trials[i];
    timing_run(b->timings, b->timed, &options);
    b->stage.place->describe(b->stage.ordinal, &b->device);
    warn_of_others(b, &start, count);
}

static int time_and_report(struct bench *b, bool is_cold, struct report *report,
                           struct bench_count *count)
{
    int code = EXIT_DONE;
    time_trials(b, is_cold, count);
    for (int i = 0; i < b->timed && !code; i++) {
        const struct timing *t = &b->timings[i];
        const bool is_timed = t->trial->status == TRIAL_PASSED;
        code = is_timed ? bench_report_timing(b, t, is_cold, report)
                        : bench_report_untimed(b, t->trial, is_cold, report);
        count->measured += is_timed;
        count->failed += !is_timed;
    }
    return code;
}

/* All algorithms with one number of threads. */
static int bench_team(struct bench *b, struct report *report, struct bench_count *count)
{
    bool is_idle = true;
    int code = EXIT_DONE;
    find_choice(b);
    verify_trials(b);
    for (int i = 0; i < b->count && !code; i++) {
        struct trial *trial = &b->trials[i];
        if (!trial->stage)
            continue;
        if (has_passed(trial) && !b->reference.is_full)
            cross_check(b, i);
        is_idle = is_idle && trial->status == TRIAL_REFUSED;
        count->failed += trial->status == TRIAL_FAILED;
        if (!has_passed(trial))
            code = bench_report_untimed(b, trial, false, report);
    }
    count->idle += is_idle;
    if (!code)
        code = time_and_report(b, false, report, count);
    if (!code && b->request->is_cold)
        code = time_and_report(b, true, report, count);
    for (int i = 0; i < b->count; i++)
        if (b->trials[i].stage)
            trial_free(&b->trials[i]);
    return code;
}

/* A copy of the problem's weights, with as many zeros as the point asks for or more. */
static int prune_weights(const struct problem_point *point, float **dense,
                         char pattern[WORKLOAD_PATTERN_SIZE])
{
    const struct problem_weights *const w = point->problem->weights;
    const bool is_pruned = point->sparsity > point->problem->sparsity;
    *dense = malloc((size_t)w->count * sizeof **dense);
    if (!*dense)
        return complain(EXIT_WRONG, "memory", "no room for %" PRId64 " weights", w->count);
    memcpy(*dense, w->oihw, (size_t)w->count * sizeof **dense);
    const csrconv_status status = csrconv_prune_magnitude(*dense, w->count, point->sparsity);
    snprintf(pattern, WORKLOAD_PATTERN_SIZE, "%s%s", w->digest, is_pruned ? "+magnitude" : "");
    return status ? selection_complain(point->problem->name, status) : EXIT_DONE;
}

/* Input and output, each in the host's memory and in a copy for the algorithms. */
static int check_memory(const struct problem_point *point)
{
    const csrconv_geometry *const g = &point->geometry;
    int64_t height, width;
    if (csrconv_output_size(g, &height, &width))
        return EXIT_DONE; /* the plan will say what is wrong */
    const double image = (double)g->channels * (double)g->height * (double)g->width +
                         (double)g->filters * (double)height * (double)width;
    const double floats = 2.0 * (double)g->batch * image;
    if (floats < (double)tensor_memory())
        return EXIT_DONE;
    return complain(EXIT_REFUSED, "memory", "the activations need %.3g GB",
                    floats * sizeof(float) * 1e-9);
}

static int set_up(struct bench *b, float **dense)
{
    const struct bench_request *request = b->request;
    struct workload_options options = { .seed = request->seed, .sparsity = b->point->sparsity };
    char pattern[WORKLOAD_PATTERN_SIZE];
    int code;
    if ((code = check_memory(b->point)))
        return code;
    problem_format(&b->point->geometry, b->descriptor);
    b->count = selection_count() + length_of(request->variants);
    if (b->point->problem->weights) {
        if ((code = prune_weights(b->point, dense, pattern)))
            return code;
        options.weights = *dense;
        options.pattern = pattern;
    }
    b->trials = calloc((size_t)b->count, sizeof *b->trials);
    b->timings = calloc((size_t)b->count, sizeof *b->timings);
    if (!b->trials || !b->timings)
        return complain(EXIT_WRONG, "memory", "no room for the trials");
    if ((code = workload_make(&b->point->geometry, &options, &b->workload)) ||
        (code = reference_make(&b->workload, request->seed, &b->reference)))
        return code;
    code = stage_make(&b->workload, request->device, request->ordinal, &b->stage);
    if (!code)
        b->stage.place->describe(b->stage.ordinal, &b->device);
    return code;
}

/* A failure of this point; what comes after it may still be measured. */
static int fail_point(const struct problem_point *point, int64_t *count)
{
    fprintf(stderr, "warning: %s: %s\n", point->problem->name, complaint());
    complain_clear();
    ++*count;
    return EXIT_DONE;
}

int bench_point(const struct bench_request *request, const struct problem_point *point,
                struct report *report, struct bench_count *count)
{
    const bool has_threads = request->device == CSRCONV_DEVICE_CPU && request->threads->count;
    const size_t teams = has_threads ? request->threads->count : 1;
    struct bench b = { .request = request, .point = point };
    float *dense = NULL;
    int code = set_up(&b, &dense);
    for (size_t i = 0; i < teams && !code; i++) {
        b.threads = has_threads ? (int)request->threads->items[i] : 0;
        memset(b.trials, 0, (size_t)b.count * sizeof *b.trials);
        code = bench_team(&b, report, count);
    }
    free(b.trials);
    free(b.timings);
    free(dense);
    stage_free(&b.stage);
    reference_free(&b.reference);
    workload_free(&b.workload);
    return code == EXIT_WRONG     ? fail_point(point, &count->failed)
           : code == EXIT_REFUSED ? fail_point(point, &count->idle)
                                  : code;
}
