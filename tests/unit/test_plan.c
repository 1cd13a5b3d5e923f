/* Plans: what is chosen and said, what is refused, what they hold. */
#include "plan_fixture.h"

#include "algorithm.h"
#include "choose.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static csrconv_status refuse_odd(const struct csrconv_algorithm *self,
                                 const struct csrconv_problem *problem,
                                 struct csrconv_estimate *estimate)
{
    (void)self;
    estimate->us = 1e-6; /* which nobody may see */
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "%lld filters: an odd number",
                        (long long)problem->shape.g.filters);
}

static struct csrconv_algorithm peer_named(const char *name)
{
    struct csrconv_algorithm peer = *csrconv_find_algorithm("direct", NULL);
    peer.info.name = name;
    peer.info.is_peer = 1;
    peer.estimate = claim;
    return peer;
}

static void the_fastest_by_estimate_is_taken(void **state)
{
    const struct fixture *f = *state;
    csrconv_plan *plan = plan_of(f);
    const csrconv_plan_info info = describe(plan);
    int own = 0;
    while (csrconv_algorithms()[own])
        own++;
    assert_int_equal(info.candidates, own);
    for (int i = 0; i < info.candidates; i++) {
        const csrconv_candidate c = candidate_of(plan, i);
        assert_ptr_equal(c.algorithm, csrconv_algorithms()[i]);
        assert_true(c.reason[0] != '\0');
        assert_true(c.status ? c.estimate_us == 0.0 : c.estimate_us >= info.estimate_us);
        if (c.algorithm == info.algorithm)
            assert_string_equal(c.reason, info.reason);
    }
    assert_non_null(strstr(info.reason, "fastest"));
    csrconv_plan_destroy(&plan);
    assert_null(plan);
}

static void null_options_and_auto_are_the_same(void **state)
{
    struct fixture *f = *state;
    csrconv_plan *plan;
    const csrconv_algorithm *chosen;
    assert_ok(csrconv_plan_create(f->weights, &f->geometry, NULL, &plan));
    chosen = describe(plan).algorithm;
    csrconv_plan_destroy(&plan);
    f->options.algorithm = "auto";
    f->options.device = CSRCONV_DEVICE_AUTO;
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, chosen);
    csrconv_plan_destroy(&plan);
}

static void a_plan_by_name_says_so(const csrconv_algorithm *algorithm)
{
    struct fixture *f;
    csrconv_plan *plan;
    csrconv_plan_info info;
    make_fixture((void **)&f);
    f->options.algorithm = info_of(algorithm).name;
    f->options.device = CSRCONV_DEVICE_AUTO; /* the name settles it */
    plan = plan_of(f);
    info = describe(plan);
    assert_ptr_equal(info.algorithm, algorithm);
    assert_string_equal(info.reason, "asked for by name");
    assert_int_equal(info.device, info_of(algorithm).device);
    assert_int_equal(info.out_height, 5);
    assert_int_equal(info.out_width, 6);
    assert_int_equal(info.nonzeros, 120);
    assert_true(info.detail[0] != '\0');
    assert_string_equal(info.variant, "");
    assert_true(info.estimate_us > 0.0 && info.dense_estimate_us > 0.0);
    assert_true(info.plan_bytes > 0);
    csrconv_plan_destroy(&plan);
    free_fixture((void **)&f);
}

static void every_algorithm_can_be_named(void **state)
{
    (void)state;
    each_own_algorithm(a_plan_by_name_says_so);
}

static void algorithms_describe_themselves(void **state)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    (void)state;
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        info = info_of(*a);
        assert_true(info.name[0] && info.summary[0] && info.math[0] && info.layout[0]);
        assert_int_equal(info.is_peer, 0);
        assert_string_equal(info.version, "");
        assert_null(info.limits);
        for (const csrconv_algorithm *const *b = csrconv_algorithms(); b < a; b++)
            assert_string_not_equal(info.name, info_of(*b).name);
    }
    assert_fails(csrconv_algorithm_describe(NULL, &info), CSRCONV_BAD_ARGUMENT, "algorithm");
    assert_fails(csrconv_algorithm_describe(*csrconv_algorithms(), NULL), CSRCONV_BAD_ARGUMENT,
                 "info");
    info.struct_size = 1;
    assert_fails(csrconv_algorithm_describe(*csrconv_algorithms(), &info), CSRCONV_VERSION_MISMATCH,
                 "csrconv_algorithm_info");
}

static void peers_of_this_build_state_their_limits(void **state)
{
    (void)state;
    for (const csrconv_algorithm *const *a = csrconv_peer_table; *a; a++) {
        const csrconv_algorithm_info info = info_of(*a);
        assert_int_equal(info.is_peer, 1);
        assert_true(info.version[0] != '\0');
        assert_non_null(info.limits);
    }
}

static void only_any_or_its_name_takes_a_peer(void **state)
{
    struct fixture *f = *state;
    const struct csrconv_algorithm peer = peer_named("claims");
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    csrconv_plan *plan;
    int last;
    f->options.peers = peers;
    plan = plan_of(f);
    last = describe(plan).candidates - 1;
    assert_ptr_not_equal(describe(plan).algorithm, &peer);
    assert_ptr_equal(candidate_of(plan, last).algorithm, &peer);
    assert_non_null(strstr(candidate_of(plan, last).reason, "\"any\""));
    csrconv_plan_destroy(&plan);
    f->options.algorithm = "any";
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, &peer);
    assert_non_null(strstr(candidate_of(plan, 0).reason, "claims"));
    csrconv_plan_destroy(&plan);
    f->options.algorithm = "claims";
    plan = plan_of(f);
    assert_ptr_equal(describe(plan).algorithm, &peer);
    assert_non_null(strstr(candidate_of(plan, 0).reason, "claims was asked for by name"));
    csrconv_plan_destroy(&plan);
}

static void a_refusal_keeps_its_reason(void **state)
{
    struct fixture *f = *state;
    struct csrconv_algorithm peer = peer_named("even");
    const csrconv_algorithm *const peers[] = { &peer, NULL };
    csrconv_plan *plan;
    csrconv_candidate last;
    peer.estimate = refuse_odd;
    f->options.peers = peers;
    f->options.algorithm = "any";
    plan = plan_of(f);
    last = candidate_of(plan, describe(plan).candidates - 1);
    assert_int_equal(last.status, CSRCONV_NOT_SUPPORTED);
    assert_string_equal(last.reason, "5 filters: an odd number");
    assert_true(last.estimate_us == 0.0);
    csrconv_plan_destroy(&plan);
    f->options.algorithm = "even";
    refuse(f, CSRCONV_NOT_SUPPORTED, "5 filters: an odd number");
}

/* Of a peer that leaves the number of its search for prepare. */
static int searches, prepared_for;

static csrconv_status search(const struct csrconv_algorithm *self,
                             const struct csrconv_problem *problem,
                             struct csrconv_estimate *estimate)
{
    searches++;
    memcpy(estimate->mapping, &searches, sizeof searches);
    return claim(self, problem, estimate);
}

static csrconv_status prepare_what_was_found(const struct csrconv_algorithm *self,
                                             const struct csrconv_problem *problem,
                                             struct csrconv_prepared *prepared)
{
    (void)self;
    memcpy(&prepared_for, prepared->estimate->mapping, sizeof prepared_for);
    return csrconv_find_algorithm("direct", NULL)->prepare(self, problem, prepared);
}

static void nothing_is_searched_for_twice(void **state)
{
    struct fixture *f = *state;
    static struct csrconv_algorithm peer;
    static const csrconv_algorithm *const peers[] = { &peer, NULL };
    peer = peer_named("searches");
    peer.estimate = search;
    peer.prepare = prepare_what_was_found;
    f->options.algorithm = "any";
    f->options.peers = peers;
    for (int tune = 0; tune < 2; tune++) {
        csrconv_plan *plan;
        f->options.tune = tune;
        plan = plan_of(f);
        assert_int_equal(searches, tune + 1);
        assert_int_equal(prepared_for, searches);
        csrconv_plan_destroy(&plan);
    }
}

static void bad_calls_are_told_apart(void **state)
{
    const struct fixture *f = *state;
    csrconv_plan *plan = NULL, *made = plan_of(f);
    csrconv_plan_info info = { .struct_size = 0 };
    csrconv_candidate candidate = { .struct_size = sizeof candidate };
    csrconv_plan_destroy(NULL);
    csrconv_plan_destroy(&plan);
    assert_fails(csrconv_plan_create(NULL, &f->geometry, &f->options, &plan), CSRCONV_BAD_ARGUMENT,
                 "weights is NULL");
    assert_fails(csrconv_plan_create(f->weights, NULL, &f->options, &plan), CSRCONV_BAD_ARGUMENT,
                 "geometry is NULL");
    assert_fails(csrconv_plan_create(f->weights, &f->geometry, &f->options, NULL),
                 CSRCONV_BAD_ARGUMENT, "out is NULL");
    assert_fails(csrconv_plan_describe(made, &info), CSRCONV_VERSION_MISMATCH, "csrconv_plan_info");
    assert_fails(csrconv_plan_describe(NULL, &info), CSRCONV_BAD_ARGUMENT, "plan is NULL");
    assert_fails(csrconv_plan_describe(made, NULL), CSRCONV_BAD_ARGUMENT, "info is NULL");
    assert_fails(csrconv_plan_candidate(NULL, 0, &candidate), CSRCONV_BAD_ARGUMENT, "plan is NULL");
    assert_fails(csrconv_plan_candidate(made, 0, NULL), CSRCONV_BAD_ARGUMENT, "candidate is NULL");
    assert_fails(csrconv_plan_candidate(made, -1, &candidate), CSRCONV_BAD_ARGUMENT,
                 "candidate -1 of");
    assert_fails(csrconv_plan_candidate(made, describe(made).candidates, &candidate),
                 CSRCONV_BAD_ARGUMENT, "candidate");
    candidate.struct_size = 2;
    assert_fails(csrconv_plan_candidate(made, 0, &candidate), CSRCONV_VERSION_MISMATCH,
                 "csrconv_candidate");
    csrconv_plan_destroy(&made);
}

/* Everything handed over is freed and overwritten before the plan is used. */
static void plans_outlive_what_they_are_made_from(const csrconv_algorithm *algorithm)
{
    struct csrconv_csr view;
    float in[4 * 6 * 7], kept[5 * 5 * 6], out[5 * 5 * 6], *bias = calloc(5, sizeof *bias);
    struct fixture *f;
    struct layer layer;
    csrconv_plan *plan;
    csrconv_plan_info info;
    void *workspace;
    make_fixture((void **)&f);
    csrconv_csr_init(&view);
    assert_non_null(bias);
    fill_series(bias, 5);
    fill_series(in, COUNT_OF(in));
    layer = layer_of(&f->geometry, f->weights, in);
    layer.options.epilogue.bias = bias;
    layer_run(&layer, algorithm, kept);
    f->options.algorithm = info_of(algorithm).name;
    f->options.epilogue.bias = bias;
    plan = plan_of(f);
    free(bias);
    free_fixture((void **)&f);
    memset(f, 0xff, sizeof *f);
    info = describe(plan);
    workspace = aligned_alloc(64, info.workspace_bytes / 64 * 64 + 64);
    assert_ok(csrconv_execute(plan, 1, in, out, workspace, info.workspace_bytes, NULL));
    assert_memory_equal(out, kept, sizeof out);
    free(workspace);
    csrconv_plan_destroy(&plan);
}

static void plans_outlive_their_weights(void **state)
{
    (void)state;
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++)
        if (runs_on_cpu(*a))
            plans_outlive_what_they_are_made_from(*a);
}

/* plan_bytes is what the hooks were asked for and still hold. */
static void plan_bytes_are_all_that_a_plan_holds(void **state)
{
    struct fixture *f = *state;
    const float bias[5] = { 0 };
    f->options.epilogue.bias = bias;
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        struct counted counted = { 0 };
        const csrconv_allocator hooks = counted_allocator(&counted);
        csrconv_plan *plan;
        if (!runs_on_cpu(*a))
            continue;
        f->options.algorithm = info_of(*a).name;
        f->options.allocator = &hooks;
        plan = plan_of(f);
        assert_true(counted.live_bytes > 0);
        assert_int_equal(describe(plan).plan_bytes, counted.live_bytes);
        csrconv_plan_destroy(&plan);
        assert_int_equal(counted.live, 0);
    }
}

static void threads_are_as_asked_for(void **state)
{
    struct fixture *f = *state;
    csrconv_parallel parallel = { NULL, 7, run_serially };
    csrconv_plan *plan = plan_of(f);
    assert_true(describe(plan).threads >= 1);
    csrconv_plan_destroy(&plan);
    f->options.threads = 3;
    plan = plan_of(f);
    assert_int_equal(describe(plan).threads, 3);
    csrconv_plan_destroy(&plan);
    f->options.threads = 0;
    f->options.parallel = &parallel;
    plan = plan_of(f);
    assert_int_equal(describe(plan).threads, 7);
    csrconv_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(the_fastest_by_estimate_is_taken),
        with_fixture(null_options_and_auto_are_the_same),
        cmocka_unit_test(every_algorithm_can_be_named),
        cmocka_unit_test(algorithms_describe_themselves),
        cmocka_unit_test(peers_of_this_build_state_their_limits),
        with_fixture(only_any_or_its_name_takes_a_peer),
        with_fixture(a_refusal_keeps_its_reason),
        with_fixture(nothing_is_searched_for_twice),
        with_fixture(bad_calls_are_told_apart),
        cmocka_unit_test(plans_outlive_their_weights),
        with_fixture(plan_bytes_are_all_that_a_plan_holds),
        with_fixture(threads_are_as_asked_for),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
