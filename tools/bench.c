#include "bench_parts.h"

#include "complain.h"
#include "format/tensor.h"
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

const csrconv_algorithm *bench_algorithm(const struct bench *b, int index)
{
    const int selected = selection_count();
    return index < selected ? selection_algorithm(index) : b->request->variants[index - selected];
}

static bool is_of_device(const struct bench *b, int index)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    csrconv_algorithm_describe(bench_algorithm(b, index), &info);
    return info.device == b->request->device;
}

bool bench_is_wanted(const struct bench *b, int index)
{
    return (index >= selection_count() || b->request->wanted[index]) && is_of_device(b, index);
}

/* Whether there is to be a trial: a network wants that of the automatic choice too. */
static bool has_trial(const struct bench *b, int index)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    csrconv_algorithm_describe(bench_algorithm(b, index), &info);
    return bench_is_wanted(b, index) || (b->request->is_graph && strcmp(info.name, b->chosen) == 0);
}

static void verify_trials(struct bench *b)
{
    const int64_t n = b->workload.geometry.batch;
    for (int i = 0; i < b->count; i++) {
        if (!has_trial(b, i))
            continue;
        trial_make(&b->stage, bench_algorithm(b, i), b->threads, &b->trials[i]);
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
        if (i == index || b->trials[i].stage || !is_of_device(b, i))
            continue;
        trial_make(&b->stage, bench_algorithm(b, i), b->threads, &extra);
        trial_verify(&extra, &b->reference, b->workload.geometry.batch);
        done = has_passed(&extra);
        if (done)
            trial_cross_check(&b->trials[index], &extra);
        trial_free(&extra);
        if (done)
            return;
    }
}

int bench_verify(struct bench *b)
{
    const int code = bench_find_choice(b);
    if (code)
        return code;
    verify_trials(b);
    for (int i = 0; i < b->count; i++)
        if (has_passed(&b->trials[i]) && !b->reference.is_full)
            cross_check(b, i);
    return EXIT_DONE;
}

void bench_count_timing(const struct bench_request *request, const char *name,
                        const struct machine_use *start, struct bench_count *count)
{
    const double taken = machine_taken_since(start);
    count->timed++;
    if (taken <= 0.1 || request->device != CSRCONV_DEVICE_CPU)
        return;
    count->disturbed++;
    fprintf(stderr, "warning: other processes took %.0f %% of a CPU while %s was timed\n",
            taken * 100.0, name);
}

void bench_time(struct bench *b, bool is_cold, struct bench_count *count)
{
    const struct timing_options options = { .min_time_s = b->request->min_time_s,
                                            .is_cold = is_cold };
    const struct machine_use start = machine_use_now();
    b->timed = 0;
    for (int i = 0; i < b->count; i++) {
        if (!has_passed(&b->trials[i]))
            continue;
        b->passed[b->timed] = &b->trials[i];
        timing_init(&b->timings[b->timed], b->trials[i].algorithm.name, &b->passed[b->timed], 1);
        b->timed++;
    }
    timing_run(b->timings, b->timed, &options);
    for (int i = 0; i < b->timed; i++)
        if (b->timings[i].failure[0])
            trial_fail(b->passed[i], b->timings[i].failure);
    b->stage.place->describe(b->stage.ordinal, &b->device);
    bench_count_timing(b->request, b->point->problem->name, &start, count);
}

static int time_and_report(struct bench *b, bool is_cold, struct report *report,
                           struct bench_count *count)
{
    int code = EXIT_DONE;
    bench_time(b, is_cold, count);
    for (int i = 0; i < b->timed && !code; i++) {
        const struct timing *t = &b->timings[i];
        const bool is_timed = !t->failure[0];
        code = is_timed ? bench_report_timing(b, t, is_cold, report)
                        : bench_report_untimed(b, t->trials[0], is_cold, report);
        count->measured += is_timed;
        count->failed += !is_timed;
    }
    return code;
}

void bench_free_trials(struct bench *b)
{
    for (int i = 0; i < b->count && b->trials; i++)
        if (b->trials[i].stage)
            trial_free(&b->trials[i]);
}

/* All algorithms with one number of threads. */
static int bench_team(struct bench *b, struct report *report, struct bench_count *count)
{
    bool is_idle = true;
    int code = bench_verify(b);
    for (int i = 0; i < b->count && !code; i++) {
        struct trial *trial = &b->trials[i];
        if (!trial->stage)
            continue;
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
    bench_free_trials(b);
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

static int make_workload(struct bench *b)
{
    struct workload_options options = { .seed = b->request->seed, .sparsity = b->point->sparsity };
    char pattern[WORKLOAD_PATTERN_SIZE];
    float *dense = NULL;
    int code = b->point->problem->weights ? prune_weights(b->point, &dense, pattern) : EXIT_DONE;
    options.weights = dense;
    options.pattern = pattern;
    if (!code)
        code = workload_make(&b->point->geometry, &options, &b->workload);
    free(dense);
    return code;
}

int bench_set_up(struct bench *b)
{
    const struct bench_request *request = b->request;
    int code;
    if ((code = check_memory(b->point)))
        return code;
    problem_format(&b->point->geometry, b->descriptor);
    b->count = selection_count() + length_of(request->variants);
    b->trials = calloc((size_t)b->count, sizeof *b->trials);
    b->passed = calloc((size_t)b->count, sizeof *b->passed);
    b->timings = calloc((size_t)b->count, sizeof *b->timings);
    if (!b->trials || !b->passed || !b->timings)
        return complain(EXIT_WRONG, "memory", "no room for the trials");
    if ((code = make_workload(b)) ||
        (code = reference_make(&b->workload, request->seed, &b->reference)))
        return code;
    code = stage_make(&b->workload, request->device, request->ordinal, &b->stage);
    if (!code)
        b->stage.place->describe(b->stage.ordinal, &b->device);
    return code;
}

void bench_tear_down(struct bench *b)
{
    free(b->trials);
    free(b->passed);
    free(b->timings);
    stage_free(&b->stage);
    reference_free(&b->reference);
    workload_free(&b->workload);
}

int bench_fail_point(const char *name, int code, struct bench_count *count)
{
    if (code != EXIT_WRONG && code != EXIT_REFUSED)
        return code;
    fprintf(stderr, "warning: %s: %s\n", name, complaint());
    complain_clear();
    count->failed += code == EXIT_WRONG;
    count->idle += code == EXIT_REFUSED;
    return EXIT_DONE;
}

int bench_teams(const struct bench_request *request)
{
    const bool has_threads = request->device == CSRCONV_DEVICE_CPU && request->threads->count;
    return has_threads ? (int)request->threads->count : 1;
}

int bench_team_threads(const struct bench_request *request, int team)
{
    return request->device == CSRCONV_DEVICE_CPU && request->threads->count
               ? (int)request->threads->items[team]
               : 0;
}

int bench_point(const struct bench_request *request, const struct problem_point *point,
                struct report *report, struct bench_count *count)
{
    struct bench b = { .request = request, .point = point };
    int code = bench_set_up(&b);
    for (int i = 0; i < bench_teams(request) && !code; i++) {
        b.threads = bench_team_threads(request, i);
        memset(b.trials, 0, (size_t)b.count * sizeof *b.trials);
        code = bench_team(&b, report, count);
    }
    bench_tear_down(&b);
    return bench_fail_point(point->problem->name, code, count);
}
