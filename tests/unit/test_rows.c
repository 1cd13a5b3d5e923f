/*
 * Rows of executes at a place that records them, as a GPU does: what must be captured, what is held
 * against what, and what a failure costs. The place is the CPU's, but for how it records.
 */
#include "helpers.h"

#include "choose.h"
#include "complain.h"
#include "runner/timing.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

static const struct csrconv_algorithm *right; /* the specification */
static int recorded, forgotten;

static int record(struct row *row)
{
    row->uncaptured[0] = '\0';
    row->graph = row;
    recorded++;
    return EXIT_DONE;
}

static int record_nothing(struct row *row)
{
    row->graph = NULL;
    snprintf(row->uncaptured, sizeof row->uncaptured, "it allocates");
    return EXIT_DONE;
}

static void forget(struct row *row)
{
    forgotten += row->graph != NULL;
    row->graph = NULL;
}

struct set {
    struct workload workload;
    struct reference reference;
    struct stage stage;
    struct place place;
};

static void set_make(struct set *set)
{
    const csrconv_geometry g = geometry_of(5, 9, 8, 6, 3, 3);
    const struct workload_options options = { .seed = 7, .sparsity = 0.7 };
    recorded = forgotten = 0;
    assert_int_equal(workload_make(&g, &options, &set->workload), EXIT_DONE);
    assert_int_equal(reference_make(&set->workload, 7, &set->reference), EXIT_DONE);
    assert_int_equal(stage_make(&set->workload, CSRCONV_DEVICE_CPU, 0, &set->stage), EXIT_DONE);
    set->place = place_cpu;
    set->place.record = record;
    set->place.forget = forget;
    set->stage.place = &set->place;
}

static void set_free(struct set *set)
{
    assert_int_equal(recorded, forgotten);
    stage_free(&set->stage);
    reference_free(&set->reference);
    workload_free(&set->workload);
}

/* The real thing under another name, or with a fault. */
static struct csrconv_algorithm variant_of(const char *name)
{
    struct csrconv_algorithm algorithm = *right;
    algorithm.info.name = name;
    algorithm.info.is_peer = strcmp(name, "peer") == 0;
    return algorithm;
}

static void verified(struct set *set, const struct csrconv_algorithm *algorithm,
                     struct trial *trial)
{
    trial_make(&set->stage, algorithm, 1, trial);
    trial_verify(trial, &set->reference, 1);
}

static void own_ones_must_be_captured(void **state)
{
    struct csrconv_algorithm peer = variant_of("peer");
    struct set set;
    struct trial trial;
    (void)state;
    set_make(&set);
    set.place.record = record_nothing;
    verified(&set, right, &trial);
    assert_int_equal(trial.status, TRIAL_FAILED);
    assert_string_equal(trial.reason, "cannot be captured in a graph: it allocates");
    trial_free(&trial);
    verified(&set, &peer, &trial);
    assert_int_equal(trial.status, TRIAL_PASSED);
    trial_free(&trial);
    set_free(&set);
}

/* The third replay, after two runs, is wrong. */
static csrconv_status run_wrong_at_last(const void *state, const struct csrconv_run *run)
{
    static int runs;
    const csrconv_status status = right->execute(state, run);
    if (++runs == 5)
        run->out[17] += 1.0F;
    return status;
}

static void replays_are_held_against_an_execute(void **state)
{
    struct csrconv_algorithm wrong = variant_of("wrong");
    struct set set;
    struct trial trial;
    (void)state;
    set_make(&set);
    verified(&set, right, &trial);
    assert_int_equal(trial.status, TRIAL_PASSED);
    trial_free(&trial);
    wrong.execute = run_wrong_at_last;
    verified(&set, &wrong, &trial);
    assert_int_equal(trial.status, TRIAL_FAILED);
    assert_non_null(strstr(trial.reason, "a replay of its graph"));
    trial_free(&trial);
    set_free(&set);
}

/* A peer may round as it likes, but its graph must be right too. */
static csrconv_status run_peer(const void *state, const struct csrconv_run *run)
{
    static int runs;
    const csrconv_status status = right->execute(state, run);
    if (++runs == 2)
        run->out[17] += 1.0F;
    return status;
}

static void replays_of_peers_are_held_against_the_oracle(void **state)
{
    struct csrconv_algorithm peer = variant_of("peer");
    struct set set;
    struct trial trial;
    (void)state;
    peer.execute = run_peer;
    set_make(&set);
    verified(&set, &peer, &trial);
    assert_int_equal(trial.status, TRIAL_FAILED);
    assert_non_null(strstr(trial.reason, "out[0]"));
    trial_free(&trial);
    set_free(&set);
}

/* Right while it is verified (two runs and three replays), and broken soon after. */
static csrconv_status run_until_timed(const void *state, const struct csrconv_run *run)
{
    static int runs;
    if (++runs > 6)
        return csrconv_fail(CSRCONV_EXECUTION_FAILED, "the machine is on fire");
    return right->execute(state, run);
}

static void a_failure_costs_one_algorithm(void **state)
{
    static struct timing timings[2];
    const struct timing_options options = { .is_cold = true };
    struct csrconv_algorithm broken = variant_of("broken");
    struct trial trials[2], *const pointers[2] = { &trials[0], &trials[1] };
    struct set set;
    (void)state;
    broken.execute = run_until_timed;
    set_make(&set);
    verified(&set, &broken, &trials[0]);
    verified(&set, right, &trials[1]);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(trials[i].reason, "");
        timing_init(&timings[i], trials[i].algorithm.name, &pointers[i], 1);
    }
    timing_run(timings, 2, &options);
    assert_string_equal(timings[0].failure, "broken: the machine is on fire");
    assert_string_equal(complaint(), "");
    assert_string_equal(timings[1].failure, "");
    assert_true(timings[1].us.median > 0.0);
    assert_true(timings[1].samples >= 5);
    trial_free(&trials[0]);
    trial_free(&trials[1]);
    set_free(&set);
}

static void what_is_not_captured_is_timed_and_told(void **state)
{
    static struct timing timing;
    const struct timing_options options = { .is_cold = false };
    struct csrconv_algorithm peer = variant_of("peer");
    struct set set;
    struct trial trial, *const pointer = &trial;
    (void)state;
    set_make(&set);
    set.place.record = record_nothing;
    verified(&set, &peer, &trial);
    timing_init(&timing, "peer", &pointer, 1);
    timing_run(&timing, 1, &options);
    assert_string_equal(timing.failure, "");
    assert_true(timing.us.median > 0.0);
    assert_string_equal(timing.row.uncaptured, "it allocates");
    trial_free(&trial);
    set_free(&set);
}

/* Which trials of a chain ran, in their order. */
static char ran[8];

static csrconv_status run_first(const void *state, const struct csrconv_run *run)
{
    strncat(ran, "1", sizeof ran - 1 - strlen(ran));
    return right->execute(state, run);
}

static csrconv_status run_second(const void *state, const struct csrconv_run *run)
{
    strncat(ran, "2", sizeof ran - 1 - strlen(ran));
    return right->execute(state, run);
}

static void a_chain_runs_its_trials_in_order(void **state)
{
    static struct timing timing;
    const struct timing_options options = { .is_single = true };
    struct csrconv_algorithm algorithms[2] = { variant_of("first"), variant_of("second") };
    struct trial trials[2], *const pointers[2] = { &trials[1], &trials[0] };
    struct set set;
    (void)state;
    algorithms[0].execute = run_first;
    algorithms[1].execute = run_second;
    set_make(&set);
    for (int i = 0; i < 2; i++)
        verified(&set, &algorithms[i], &trials[i]);
    timing_init(&timing, "both", pointers, 2);
    ran[0] = '\0';
    assert_int_equal(timing_rehearse(&timing), EXIT_DONE);
    assert_string_equal(ran, "21");
    trial_check_output(&trials[0], &set.reference);
    assert_int_equal(trials[0].status, TRIAL_PASSED);
    ((float *)set.stage.out)[set.stage.result.start + 3] += 1.0F;
    trial_check_output(&trials[0], &set.reference);
    assert_int_equal(trials[0].status, TRIAL_FAILED);
    timing_run(&timing, 1, &options);
    assert_string_equal(timing.failure, "");
    assert_int_equal(timing.row.count, 1);
    assert_true(timing.us.median > 0.0);
    for (int i = 0; i < 2; i++)
        trial_free(&trials[i]);
    set_free(&set);
}

static int find_the_specification(void **state)
{
    (void)state;
    right = csrconv_find_algorithm("direct", NULL);
    return right ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_ones_must_be_captured),
        cmocka_unit_test(replays_are_held_against_an_execute),
        cmocka_unit_test(replays_of_peers_are_held_against_the_oracle),
        cmocka_unit_test(a_failure_costs_one_algorithm),
        cmocka_unit_test(what_is_not_captured_is_timed_and_told),
        cmocka_unit_test(a_chain_runs_its_trials_in_order),
    };
    return cmocka_run_group_tests_name("rows", tests, find_the_specification, NULL);
}
