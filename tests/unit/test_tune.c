/* Plans that measure: what they take and say, what they leave behind, and choices that are kept. */
#include "plan_fixture.h"

#include "algorithm.h"
#include "choose.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct csrconv_algorithm *direct(void)
{
    return csrconv_find_algorithm("direct", NULL);
}

static csrconv_candidate last_candidate(const csrconv_plan *plan)
{
    return candidate_of(plan, describe(plan).candidates - 1);
}

/* ------------------------------------------------------------ a peer that is not what it claims */

/* A thousand times as long as the layer takes at all. */
static csrconv_status execute_slowly(const void *state, const struct csrconv_run *run)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    nanosleep(&pause, NULL);
    return direct()->execute(state, run);
}

static csrconv_status fail_to_execute(const void *state, const struct csrconv_run *run)
{
    (void)state;
    (void)run;
    return csrconv_fail(CSRCONV_EXECUTION_FAILED, "it broke");
}

static csrconv_status fail_to_prepare(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_prepared *prepared)
{
    (void)self;
    (void)problem;
    (void)prepared;
    return csrconv_fail(CSRCONV_OUT_OF_MEMORY, "no room for what it wants");
}

static struct csrconv_algorithm boaster(void)
{
    struct csrconv_algorithm peer = *direct();
    peer.info.name = "boaster";
    peer.info.is_peer = 1;
    peer.estimate = claim;
    return peer;
}

static void what_is_measured_counts_not_what_is_claimed(void **state)
{
    struct fixture *f = *state;
    struct csrconv_algorithm peer = boaster();
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    csrconv_plan *plan;
    peer.execute = execute_slowly;
    f->options.algorithm = "any";
    f->options.peers = peers;
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, &peer);
    csrconv_plan_destroy(&plan);
    f->options.tune = 1;
    plan = plan_of(f);
    assert_ptr_not_equal(describe(plan).algorithm, &peer);
    assert_non_null(strstr(describe(plan).reason, "measured: "));
    assert_int_equal(last_candidate(plan).status, CSRCONV_OK);
    assert_int_equal(strncmp(last_candidate(plan).reason, "measured ", 9), 0);
    csrconv_plan_destroy(&plan);
}

static void a_peer_is_not_measured_for_auto(void **state)
{
    struct fixture *f = *state;
    struct csrconv_algorithm peer = boaster();
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    csrconv_plan *plan;
    peer.execute = fail_to_execute;
    f->options.peers = peers;
    f->options.tune = 1;
    plan = plan_of(f);
    assert_non_null(strstr(last_candidate(plan).reason, "\"any\""));
    csrconv_plan_destroy(&plan);
}

static void what_cannot_be_prepared_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct csrconv_algorithm peer = boaster();
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    csrconv_plan *plan;
    peer.prepare = fail_to_prepare;
    f->options.algorithm = "any";
    f->options.peers = peers;
    f->options.tune = 1;
    plan = plan_of(f);
    assert_ptr_not_equal(describe(plan).algorithm, &peer);
    assert_int_equal(last_candidate(plan).status, CSRCONV_OUT_OF_MEMORY);
    assert_string_equal(last_candidate(plan).reason, "no room for what it wants");
    assert_true(last_candidate(plan).estimate_us == 0.0);
    csrconv_plan_destroy(&plan);
}

static void a_fault_ends_it(void **state)
{
    struct fixture *f = *state;
    struct csrconv_algorithm peer = boaster();
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    struct counted counted = { 0 };
    const csrconv_allocator hooks = counted_allocator(&counted);
    peer.execute = fail_to_execute;
    f->options.algorithm = "any";
    f->options.peers = peers;
    f->options.tune = 1;
    f->options.allocator = &hooks;
    refuse(f, CSRCONV_EXECUTION_FAILED, "it broke");
    assert_int_equal(counted.live, 0);
}

/* ---------------------------------------------------------------------- plans of one's own kind */

static void run_plan(const csrconv_plan *plan, const float *in, const float *residual, float *out)
{
    const csrconv_plan_info info = describe(plan);
    void *workspace = aligned_alloc(64, info.workspace_bytes / 64 * 64 + 64);
    assert_non_null(workspace);
    assert_ok(csrconv_execute_residual(plan, 1, in, residual, out, workspace, info.workspace_bytes,
                                       NULL));
    free(workspace);
}

static void a_tuned_plan_is_that_of_the_name(void **state)
{
    struct fixture *f = *state;
    const float bias[5] = { 1, -2, 3, -4, 5 };
    float in[4 * 6 * 7], residual[5 * 5 * 6], tuned[5 * 5 * 6], named[5 * 5 * 6];
    csrconv_plan *plan;
    fill_series(in, COUNT_OF(in));
    fill_series(residual, COUNT_OF(residual));
    f->options.epilogue =
        (csrconv_epilogue){ .bias = bias, .residual = 1, .activation = CSRCONV_ACTIVATION_RELU };
    f->options.tune = 1;
    plan = plan_of(f);
    run_plan(plan, in, residual, tuned);
    f->options.algorithm = describe(plan).algorithm->info.name;
    csrconv_plan_destroy(&plan);
    plan = plan_of(f); /* tune changes nothing for a name */
    assert_string_equal(describe(plan).reason, "asked for by name");
    run_plan(plan, in, residual, named);
    assert_memory_equal(tuned, named, sizeof tuned);
    csrconv_plan_destroy(&plan);
}

static void nothing_but_the_plan_is_left(void **state)
{
    struct fixture *f = *state;
    struct counted counted = { 0 };
    const csrconv_allocator hooks = counted_allocator(&counted);
    csrconv_plan *plan;
    f->options.tune = 1;
    f->options.allocator = &hooks;
    plan = plan_of(f);
    assert_true(counted.live_bytes > 0);
    assert_int_equal(describe(plan).plan_bytes, counted.live_bytes);
    csrconv_plan_destroy(&plan);
    assert_int_equal(counted.live, 0);
    assert_false(counted.is_odd);
}

/* An algorithm that finds no memory is passed over, so that not every plan fails. */
static void any_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    struct counted counted;
    const csrconv_allocator hooks = counted_allocator(&counted);
    int64_t failures = 0, k = 0;
    f->options.tune = 1;
    f->options.allocator = &hooks;
    do {
        csrconv_plan *plan = NULL;
        csrconv_status status;
        counted = (struct counted){ .fail_at = ++k };
        status = csrconv_plan_create(f->weights, &f->geometry, &f->options, &plan);
        assert_true(status == CSRCONV_OK || status == CSRCONV_OUT_OF_MEMORY);
        assert_int_equal(plan != NULL, status == CSRCONV_OK);
        failures += status != CSRCONV_OK;
        csrconv_plan_destroy(&plan);
        assert_int_equal(counted.live, 0);
    } while (counted.allocations >= k);
    assert_true(failures > 0 && k > failures);
}

/* --------------------------------------------------------------------------------- kept choices */

static void save(const struct fixture *f, char choice[CSRCONV_CHOICE_BYTES])
{
    csrconv_plan *plan = plan_of(f);
    assert_ok(csrconv_plan_choice(plan, choice, CSRCONV_CHOICE_BYTES));
    csrconv_plan_destroy(&plan);
}

static void a_choice_is_taken_again(void **state)
{
    struct fixture *f = *state;
    char choice[CSRCONV_CHOICE_BYTES], again[CSRCONV_CHOICE_BYTES];
    csrconv_plan *plan;
    f->options.algorithm = "direct";
    save(f, choice);
    for (const char *c = choice; *c; c++)
        assert_in_range(*c, ' ', '~');
    f->options.algorithm = "auto";
    f->options.choice = choice;
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, direct());
    assert_string_equal(describe(plan).reason, "the saved choice");
    csrconv_plan_destroy(&plan);
    save(f, again);
    assert_string_equal(choice, again);
    f->options.tune = 1; /* there is nothing to measure for */
    save(f, again);
    assert_string_equal(choice, again);
}

static void other_values_in_the_same_places_keep_it(void **state)
{
    struct fixture *f = *state;
    char choice[CSRCONV_CHOICE_BYTES];
    csrconv_weights *doubled;
    csrconv_csr csr;
    float values[120];
    save(f, choice);
    csrconv_csr_init(&csr);
    assert_ok(csrconv_weights_view(f->weights, &csr));
    assert_int_equal(csr.indptr[csr.filters], COUNT_OF(values));
    for (int i = 0; i < COUNT_OF(values); i++)
        values[i] = 2.0F * csr.values[i];
    csr.values = values;
    assert_ok(csrconv_weights_from_csr(&csr, NULL, &doubled));
    csrconv_weights_destroy(&f->weights);
    f->weights = doubled;
    f->options.choice = choice;
    save(f, choice);
}

static void a_choice_for_something_else_is_refused(void **state)
{
    struct fixture *f = *state;
    const csrconv_geometry geometry = f->geometry;
    const float bias[5] = { 0 };
    float *dense = calloc(5 * 4 * 3 * 3, sizeof *dense);
    char choice[CSRCONV_CHOICE_BYTES];
    f->options.threads = 2;
    save(f, choice);
    f->options.choice = choice;
    f->geometry.batch = 2;
    refuse(f, CSRCONV_NOT_SUPPORTED, "another geometry or epilogue");
    f->geometry = geometry;
    f->geometry.stride_w = 2;
    refuse(f, CSRCONV_NOT_SUPPORTED, "another geometry or epilogue");
    f->geometry = geometry;
    f->options.epilogue.bias = bias;
    refuse(f, CSRCONV_NOT_SUPPORTED, "another geometry or epilogue");
    f->options.epilogue.bias = NULL;
    f->options.threads = 3;
    refuse(f, CSRCONV_NOT_SUPPORTED, "threads 3");
    f->options.threads = 2;
    assert_non_null(dense);
    dense[7] = 1.0F;
    csrconv_weights_destroy(&f->weights);
    assert_ok(csrconv_weights_from_dense(dense, 5, 4, 3, 3, NULL, &f->weights));
    free(dense);
    refuse(f, CSRCONV_NOT_SUPPORTED, "weights with other nonzeros");
}

static void a_choice_of_another_version_is_refused(void **state)
{
    struct fixture *f = *state;
    char choice[CSRCONV_CHOICE_BYTES];
    char *digit;
    save(f, choice);
    digit = strstr(choice, "csrconv ") + strlen("csrconv ");
    *digit = *digit == '9' ? '8' : '9';
    f->options.choice = choice;
    refuse(f, CSRCONV_NOT_SUPPORTED, "another version of csrconv");
}

static void texts_that_are_no_choice_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = { "", "direct", "; csrconv", "direct;csrconv 0.1.0" };
    char choice[CSRCONV_CHOICE_BYTES], wrong[CSRCONV_CHOICE_BYTES + 8];
    for (int i = 0; i < COUNT_OF(texts); i++) {
        f->options.choice = texts[i];
        refuse(f, CSRCONV_BAD_ARGUMENT, "is no choice of csrconv_plan_choice");
    }
    f->options.choice = NULL;
    save(f, choice);
    f->options.choice = wrong;
    for (size_t length = strlen(choice) - 1; length > strlen("direct_avx512; "); length -= 5) {
        memcpy(wrong, choice, length);
        wrong[length] = '\0';
        refuse(f, CSRCONV_NOT_SUPPORTED, "the saved choice is for ");
    }
    snprintf(wrong, sizeof wrong, "%s ", choice);
    refuse(f, CSRCONV_NOT_SUPPORTED, "the saved choice is for ");
    snprintf(wrong, sizeof wrong, "nosuch%s", strstr(choice, "; "));
    refuse(f, CSRCONV_UNKNOWN_ALGORITHM, "\"nosuch\"");
}

static void a_choice_does_not_go_with_a_name(void **state)
{
    struct fixture *f = *state;
    char choice[CSRCONV_CHOICE_BYTES];
    save(f, choice);
    f->options.choice = choice;
    f->options.algorithm = "direct";
    refuse(f, CSRCONV_BAD_ARGUMENT, "one of them");
}

static void bad_calls_are_told_apart(void **state)
{
    const struct fixture *f = *state;
    char text[CSRCONV_CHOICE_BYTES] = "kept";
    csrconv_plan *plan = plan_of(f);
    assert_fails(csrconv_plan_choice(NULL, text, sizeof text), CSRCONV_BAD_ARGUMENT,
                 "plan is NULL");
    assert_fails(csrconv_plan_choice(plan, NULL, 10), CSRCONV_BAD_ARGUMENT, "text is NULL");
    assert_fails(csrconv_plan_choice(plan, text, 10), CSRCONV_BAD_BUFFER, "text has 10 bytes");
    assert_fails(csrconv_plan_choice(plan, text, 0), CSRCONV_BAD_BUFFER, "text has 0 bytes");
    assert_string_equal(text, "kept");
    csrconv_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(what_is_measured_counts_not_what_is_claimed),
        with_fixture(a_peer_is_not_measured_for_auto),
        with_fixture(what_cannot_be_prepared_is_passed_over),
        with_fixture(a_fault_ends_it),
        with_fixture(a_tuned_plan_is_that_of_the_name),
        with_fixture(nothing_but_the_plan_is_left),
        with_fixture(any_allocation_may_fail),
        with_fixture(a_choice_is_taken_again),
        with_fixture(other_values_in_the_same_places_keep_it),
        with_fixture(a_choice_for_something_else_is_refused),
        with_fixture(a_choice_of_another_version_is_refused),
        with_fixture(texts_that_are_no_choice_are_refused),
        with_fixture(a_choice_does_not_go_with_a_name),
        with_fixture(bad_calls_are_told_apart),
    };
    return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
