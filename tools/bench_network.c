/* The layers of a network one behind the other, by one algorithm or by the automatic choice. */
#include "bench_network.h"

#include "complain.h"
#include "fnv1a.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------- what they are */

/* "resnet50:graph", if all layers are resnet50's. */
static void name_network(struct network *n)
{
    const char *const first = n->layers[0].point->problem->name;
    const size_t length = strcspn(first, ":");
    bool is_one = first[length] == ':';
    for (size_t i = 0; i < n->count; i++)
        is_one = is_one && strncmp(n->layers[i].point->problem->name, first, length + 1) == 0;
    snprintf(n->name, sizeof n->name, "%.*s:graph", is_one ? (int)length : 6,
             is_one ? first : "layers");
    snprintf(n->problem, sizeof n->problem, "%zu layers", n->count);
}

/* The pattern that all have, or a digest of all. */
static void name_pattern(struct network *n)
{
    const char *const first = n->layers[0].workload.pattern;
    uint64_t hash = fnv1a_start;
    bool is_one = true;
    for (size_t i = 0; i < n->count; i++) {
        const char *const pattern = n->layers[i].workload.pattern;
        is_one = is_one && strcmp(pattern, first) == 0;
        hash = fnv1a(hash, pattern, strlen(pattern));
    }
    if (is_one)
        snprintf(n->pattern, sizeof n->pattern, "%s", first);
    else
        snprintf(n->pattern, sizeof n->pattern, "fnv1a:%016" PRIx64, hash);
}

static int check_batches(const struct network *n)
{
    const csrconv_geometry *const first = &n->layers[0].point->geometry;
    for (size_t i = 1; i < n->count; i++) {
        const struct problem_point *const point = n->layers[i].point;
        if (point->geometry.batch != first->batch)
            return complain(EXIT_BAD, "--graph",
                            "%s has a batch of %" PRId64 ", %s of %" PRId64
                            ": give one for all with --batch",
                            point->problem->name, point->geometry.batch,
                            n->layers[0].point->problem->name, first->batch);
    }
    return EXIT_DONE;
}

/* That a layer is worked on next. */
static void show_step(struct network *n, size_t layer)
{
    progress_show(n->progress, n->done++, n->layers[layer].point->problem->name);
}

static int set_up_layers(struct network *n)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < n->count && !code; i++) {
        show_step(n, i);
        code = bench_set_up(&n->layers[i]);
    }
    return code;
}

static void tear_down(struct network *n)
{
    for (size_t i = 0; i < n->count && n->layers; i++)
        bench_tear_down(&n->layers[i]);
    free(n->layers);
    free(n->chains);
    free(n->contenders);
    free(n->timings);
}

static int set_up(const struct bench_request *request, const struct problem_point *points,
                  size_t layers, struct progress *progress, int64_t done, struct network *n)
{
    const size_t most = (size_t)selection_count() + 1;
    int code;
    *n = (struct network){ .request = request,
                           .count = layers,
                           .layers = calloc(layers, sizeof *n->layers),
                           .chains = calloc(most * layers, sizeof(*n->chains)),
                           .contenders = calloc(most, sizeof *n->contenders),
                           .timings = calloc(most, sizeof *n->timings),
                           .progress = progress,
                           .done = done };
    if (!n->layers || !n->chains || !n->contenders || !n->timings)
        return complain(EXIT_WRONG, "memory", "no room for the layers");
    for (size_t i = 0; i < layers; i++) {
        n->layers[i].request = request;
        n->layers[i].point = &points[i];
    }
    name_network(n);
    if ((code = check_batches(n)) || (code = set_up_layers(n)))
        return code;
    name_pattern(n);
    return EXIT_DONE;
}

/* ----------------------------------------------------------------------------------- contenders */

static struct trial *trial_named(const struct bench *b, const char *name)
{
    for (int i = 0; i < b->count; i++)
        if (b->trials[i].stage && strcmp(b->trials[i].algorithm.name, name) == 0)
            return &b->trials[i];
    return NULL;
}

/* A wrong result is told before a refusal, whichever layer comes first. */
static void settle_status(const struct network *n, struct contender *c)
{
    for (size_t i = 0; i < n->count && c->status != RESULT_FAILED; i++) {
        const struct trial *const trial = c->chain[i];
        const bool is_failed = trial->status == TRIAL_FAILED;
        if (trial->status == TRIAL_PASSED || (c->status == RESULT_SKIPPED && !is_failed))
            continue;
        c->status = is_failed ? RESULT_FAILED : RESULT_SKIPPED;
        c->culprit = trial;
        snprintf(c->reason, sizeof c->reason, "%.100s: %s", n->layers[i].point->problem->name,
                 trial->reason);
    }
}

/* The next contender, whose trials are those of `name`, or of each layer's automatic choice. */
static void add_contender(struct network *n, const char *name)
{
    struct contender *const c = &n->contenders[n->contender_count];
    *c = (struct contender){ .name = name ? name : "auto",
                             .is_automatic = !name,
                             .chain = n->chains + (size_t)n->contender_count * n->count };
    for (size_t i = 0; i < n->count; i++) {
        c->chain[i] = trial_named(&n->layers[i], name ? name : n->layers[i].chosen);
        if (!c->chain[i])
            return; /* csrconv's own all refuse this layer: there is no automatic choice */
    }
    settle_status(n, c);
    n->contender_count++;
}

static void add_contenders(struct network *n)
{
    n->contender_count = 0;
    add_contender(n, NULL);
    for (int i = 0; i < selection_count(); i++)
        if (bench_is_wanted(&n->layers[0], i))
            add_contender(n, selection_info(i).name);
}

/* --------------------------------------------------------------------------------- verification */

static void fail_contender(struct contender *c, const char *reason)
{
    c->status = RESULT_FAILED;
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

/* The trial itself may be part of another chain, where it is right. */
static void check_layer(const struct bench *b, struct contender *c, struct trial *trial)
{
    struct trial here = *trial;
    if (trial_is_without_layout(trial))
        return; /* what is timed leaves its output in a layout of its own */
    trial_check_output(&here, &b->reference);
    if (here.max_error > trial->max_error)
        trial->max_error = here.max_error;
    if (here.status == TRIAL_PASSED)
        return;
    c->status = RESULT_FAILED;
    snprintf(c->reason, sizeof c->reason, "%.100s, behind the other layers: %s",
             b->point->problem->name, here.reason);
}

static int clear_outputs(const struct network *n)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < n->count && !code; i++)
        code = stage_clear_output(&n->layers[i].stage);
    return code;
}

/*
 * The layers were right one by one; here they are held against their references as they will run,
 * where the next one may begin before the last has ended.
 */
static void rehearse(struct network *n, struct contender *c)
{
    timing_init(n->timings, c->name, c->chain, (int64_t)n->count);
    if (clear_outputs(n) || timing_rehearse(n->timings)) {
        fail_contender(c, complaint());
        complain_clear();
        return;
    }
    for (size_t i = 0; i < n->count && c->status == RESULT_MEASURED; i++)
        check_layer(&n->layers[i], c, c->chain[i]);
}

static void rehearse_all(struct network *n)
{
    for (int i = 0; i < n->contender_count; i++)
        if (n->contenders[i].status == RESULT_MEASURED)
            rehearse(n, &n->contenders[i]);
}

/* ------------------------------------------------------------------------------------ measuring */

/* Each layer by itself: what is right, what the automatic choice is, and how long each takes. */
static int verify_layers(struct network *n, int threads, struct bench_count *count)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < n->count && !code; i++) {
        struct bench *const b = &n->layers[i];
        show_step(n, i);
        b->threads = threads;
        memset(b->trials, 0, (size_t)b->count * sizeof *b->trials);
        code = bench_verify(b);
        if (!code)
            bench_time(b, false, count);
    }
    return code;
}

static int report_untimed(const struct network *n, struct report *report, struct bench_count *count)
{
    bool is_idle = true;
    int code = EXIT_DONE;
    for (int i = 0; i < n->contender_count && !code; i++) {
        const struct contender *const c = &n->contenders[i];
        is_idle = is_idle && c->status == RESULT_SKIPPED;
        count->failed += c->status == RESULT_FAILED;
        if (c->status != RESULT_MEASURED)
            code = network_report_untimed(n, c, false, report);
    }
    count->idle += is_idle;
    return code;
}

static int report_timed(struct network *n, struct contender *c, const struct timing *t,
                        bool is_cold, struct report *report, struct bench_count *count)
{
    if (!t->failure[0]) {
        count->measured++;
        return network_report_timing(n, c, t, is_cold, report);
    }
    count->failed++;
    fail_contender(c, t->failure);
    return network_report_untimed(n, c, is_cold, report);
}

static int time_and_report(struct network *n, bool is_cold, struct report *report,
                           struct bench_count *count)
{
    const struct timing_options options = { .min_time_s = n->request->min_time_s,
                                            .is_cold = is_cold,
                                            .is_single = true };
    const struct machine_use start = machine_use_now();
    int timed = 0, code = EXIT_DONE;
    for (int i = 0; i < n->contender_count; i++)
        if (n->contenders[i].status == RESULT_MEASURED)
            timing_init(&n->timings[timed++], n->contenders[i].name, n->contenders[i].chain,
                        (int64_t)n->count);
    timing_run(n->timings, timed, &options);
    bench_count_timing(n->request, n->name, &start, count);
    timed = 0;
    for (int i = 0; i < n->contender_count && !code; i++)
        if (n->contenders[i].status == RESULT_MEASURED)
            code = report_timed(n, &n->contenders[i], &n->timings[timed++], is_cold, report, count);
    return code;
}

static int run_team(struct network *n, int threads, struct report *report,
                    struct bench_count *count)
{
    int code = verify_layers(n, threads, count);
    if (!code) {
        add_contenders(n);
        rehearse_all(n);
        code = report_untimed(n, report, count);
    }
    if (!code)
        code = time_and_report(n, false, report, count);
    if (!code && n->request->is_cold)
        code = time_and_report(n, true, report, count);
    for (size_t i = 0; i < n->count; i++)
        bench_free_trials(&n->layers[i]);
    return code;
}

int64_t bench_network_steps(const struct bench_request *request, size_t layers)
{
    return (int64_t)layers * (1 + bench_teams(request));
}

int bench_network(const struct bench_request *request, const struct problem_point *points,
                  size_t layers, struct progress *progress, int64_t done, struct report *report,
                  struct bench_count *count)
{
    struct network n;
    int code = set_up(request, points, layers, progress, done, &n);
    for (int i = 0; i < bench_teams(request) && !code; i++)
        code = run_team(&n, bench_team_threads(request, i), report, count);
    code = bench_fail_point(n.name, code, count);
    tear_down(&n);
    return code;
}
