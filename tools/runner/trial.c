#include "trial.h"

#include "clock.h"
#include "complain.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void settle(struct trial *trial, enum trial_status status, const char *reason)
{
    trial->status = status;
    snprintf(trial->reason, sizeof trial->reason, "%s", reason);
}

void trial_fail(struct trial *trial, const char *reason)
{
    settle(trial, TRIAL_FAILED, reason);
}

/* 1000 and 3000 mean that it cannot be run here; anything else is a fault. */
static enum trial_status status_of(csrconv_status status)
{
    const int family = (int)status / 1000;
    return family == 1 || family == 3 ? TRIAL_REFUSED : TRIAL_FAILED;
}

static bool make_plan(struct trial *trial, const csrconv_algorithm *algorithm, int threads)
{
    const csrconv_algorithm *const only[] = { algorithm, NULL };
    const struct workload *w = trial->stage->workload;
    csrconv_plan_options options;
    csrconv_status status;
    double start;
    csrconv_plan_options_init(&options);
    options.device = trial->stage->place->device;
    options.ordinal = trial->stage->ordinal;
    options.algorithm = trial->algorithm.name;
    options.threads = threads;
    options.epilogue = workload_epilogue(w);
    options.peers = only;
    start = clock_us();
    status = csrconv_plan_create(w->weights, &w->geometry, &options, &trial->plan);
    trial->plan_us = clock_us() - start;
    if (status) {
        settle(trial, status_of(status), csrconv_last_error());
        return false;
    }
    trial->info.struct_size = sizeof trial->info;
    csrconv_plan_describe(trial->plan, &trial->info);
    return true;
}

void trial_make(struct stage *stage, const csrconv_algorithm *algorithm, int threads,
                struct trial *trial)
{
    memset(trial, 0, sizeof *trial);
    trial->stage = stage;
    trial->algorithm.struct_size = sizeof trial->algorithm;
    csrconv_algorithm_describe(algorithm, &trial->algorithm);
    if (!make_plan(trial, algorithm, threads) || !trial->info.workspace_bytes)
        return;
    trial->workspace = stage->place->allocate(trial->info.workspace_bytes);
    if (!trial->workspace) {
        char reason[96];
        snprintf(reason, sizeof reason, "no room for a workspace of %zu bytes",
                 trial->info.workspace_bytes);
        settle(trial, TRIAL_REFUSED, reason);
        csrconv_plan_destroy(&trial->plan);
    }
}

void trial_free(struct trial *trial)
{
    if (trial->workspace)
        trial->stage->place->release(trial->workspace);
    trial->workspace = NULL;
    csrconv_plan_destroy(&trial->plan);
}

csrconv_status trial_execute(const struct trial *trial, int64_t n)
{
    const struct stage *stage = trial->stage;
    return csrconv_execute_residual(trial->plan, n, stage_in(stage), stage_residual(stage),
                                    stage_out(stage), trial->workspace, trial->info.workspace_bytes,
                                    stage->place->stream());
}

bool trial_is_without_layout(const struct trial *trial)
{
    return csrconv_plan_has_compute(trial->plan);
}

csrconv_status trial_execute_timed(const struct trial *trial)
{
    if (trial_is_without_layout(trial))
        return csrconv_plan_compute(trial->plan, trial->workspace, trial->stage->place->stream());
    return trial_execute(trial, trial->stage->workload->geometry.batch);
}

csrconv_status trial_lay_out(const struct trial *trial)
{
    return csrconv_plan_lay_out(trial->plan, stage_in(trial->stage), trial->workspace,
                                trial->stage->place->stream());
}

/* Runs into a cleared output and fetches it. */
static bool run_once(struct trial *trial, int64_t n)
{
    struct stage *stage = trial->stage;
    if (stage_clear_output(stage)) {
        trial_fail(trial, complaint());
        return false;
    }
    if (trial_execute(trial, n)) {
        trial_fail(trial, csrconv_last_error());
        return false;
    }
    if (stage->place->finish() || stage_fetch_output(stage)) {
        trial_fail(trial, complaint());
        return false;
    }
    stage->result.n = n;
    return true;
}

/* Of a trial that has a plan. */
static struct tolerance tolerance_of_trial(const struct trial *trial)
{
    return tolerance_of(trial->stage->workload, &trial->algorithm,
                        csrconv_plan_is_mixing(trial->plan));
}

/* The output of the last run against the oracle's. */
static void check_output(struct trial *trial, const struct reference *reference)
{
    const struct workload *w = trial->stage->workload;
    const struct tolerance tolerance = tolerance_of_trial(trial);
    struct verdict verdict;
    reference_compare(reference, w, &tolerance, &trial->stage->result, &verdict);
    if (verdict.max_error > trial->max_error)
        trial->max_error = verdict.max_error;
    if (!verdict.is_right)
        trial_fail(trial, verdict.text);
}

void trial_check_output(struct trial *trial, const struct reference *reference)
{
    if (stage_fetch_output(trial->stage))
        trial_fail(trial, complaint());
    else
        check_output(trial, reference);
}

/* ----------------------------------------------------------------- the same as a recorded row */

struct execute_call {
    const struct trial *trial;
    int64_t n;
};

static csrconv_status execute_call(const void *context)
{
    const struct execute_call *call = context;
    return trial_execute(call->trial, call->n);
}

/* As run_once does; false if it failed. */
static bool replay_once(struct trial *trial, const struct row *row)
{
    struct stage *stage = trial->stage;
    double us;
    if (!stage_clear_output(stage) && !stage->place->replay(row, &us) && !stage_fetch_output(stage))
        return true;
    trial_fail(trial, complaint());
    return false;
}

/* What the output must be again, to the bit; or the oracle, of a peer, which need not repeat. */
struct expected {
    const float *bits;
    const struct reference *reference;
};

static void check_again(struct trial *trial, const struct expected *expected, const char *what)
{
    const struct guarded *result = &trial->stage->result;
    if (expected->reference)
        check_output(trial, expected->reference);
    else if (memcmp(expected->bits, result->block, (size_t)result->block_floats * sizeof(float)) !=
             0)
        trial_fail(trial, what);
}

/* Where executes can be captured in a graph, csrconv's own must be, and replays are right too. */
static void check_graph(struct trial *trial, const struct expected *expected, int64_t n)
{
    const int replays = trial->algorithm.is_peer ? 1 : 3;
    const struct place *place = trial->stage->place;
    const struct execute_call call = { trial, n };
    struct row row = {
        .name = trial->algorithm.name, .call = execute_call, .context = &call, .count = 1
    };
    if (place->record(&row)) {
        trial_fail(trial, complaint());
    } else if (row.uncaptured[0] && !trial->algorithm.is_peer) {
        char reason[sizeof trial->reason];
        snprintf(reason, sizeof reason, "cannot be captured in a graph: %s", row.uncaptured);
        trial_fail(trial, reason);
    }
    for (int i = 0; i < replays && row.graph && trial->status == TRIAL_PASSED; i++)
        if (replay_once(trial, &row))
            check_again(trial, expected, "a replay of its graph gave other bits than an execute");
    place->forget(&row);
}

/* The output that stands there, again from a second run, and from a graph. */
static void check_repeatable(struct trial *trial, int64_t n)
{
    struct guarded *result = &trial->stage->result;
    const size_t bytes = (size_t)result->block_floats * sizeof(float);
    float *first = malloc(bytes);
    const struct expected expected = { .bits = first };
    if (!first) {
        trial_fail(trial, "no room to keep the output of the first run");
        return;
    }
    memcpy(first, result->block, bytes);
    if (run_once(trial, n))
        check_again(trial, &expected, "two runs gave different bits");
    if (trial->status == TRIAL_PASSED)
        check_graph(trial, &expected, n);
    free(first);
}

void trial_verify(struct trial *trial, const struct reference *reference, int64_t n)
{
    const struct expected right = { .reference = reference };
    if (!trial->plan || trial->status != TRIAL_PASSED || !run_once(trial, n))
        return;
    check_output(trial, reference);
    if (trial->status != TRIAL_PASSED)
        return;
    if (trial->algorithm.is_peer)
        check_graph(trial, &right, n);
    else
        check_repeatable(trial, n);
}

void trial_cross_check(struct trial *trial, struct trial *other)
{
    const struct workload *w = trial->stage->workload;
    const struct tolerance mine = tolerance_of_trial(trial);
    const struct tolerance theirs = tolerance_of_trial(other);
    struct guarded *result = &trial->stage->result, kept;
    struct verdict verdict = { .is_right = true };
    if (!run_once(other, w->geometry.batch)) {
        char reason[sizeof trial->reason];
        snprintf(reason, sizeof reason, "cannot be held against %s: %.300s", other->algorithm.name,
                 other->reason);
        trial_fail(trial, reason);
        return;
    }
    if (workload_make_output(w, &kept)) {
        trial_fail(trial, complaint());
        return;
    }
    memcpy(kept.block, result->block, (size_t)kept.block_floats * sizeof(float));
    if (run_once(trial, w->geometry.batch)) {
        reference_compare_outputs(w, &mine, result, &theirs, &kept, other->algorithm.name,
                                  &verdict);
        if (!verdict.is_right)
            trial_fail(trial, verdict.text);
    }
    guarded_free(&kept);
}
