/*
 * That the check can fail: algorithms that are wrong in the ways that algorithms are wrong, each
 * the specification followed by one fault, must be found out.
 */
#include "unit/helpers.h"

#include "choose.h"
#include "runner/trial.h"
#include "status.h"

#include <math.h>
#include <string.h>

static const struct csrconv_algorithm *right; /* the specification */

/* The padded layer of 4 images, 3 of which are run, with gaps between them. */
static csrconv_geometry layer(void)
{
    csrconv_geometry g = geometry_of(5, 9, 8, 6, 3, 3);
    g.batch = 4;
    g.pad_top = g.pad_bottom = g.pad_left = g.pad_right = 1;
    g.out_batch_stride = 6 * 9 * 8 + 11;
    return g;
}

enum { RUN = 3 };

static csrconv_status run_right(const void *state, const struct csrconv_run *run)
{
    return right->execute(state, run);
}

static csrconv_status run_one_wrong(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[run->shape->g.out_batch_stride + 100] += 1.0F;
    return status;
}

static csrconv_status run_last_wrong(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    float *last =
        run->out + (run->n - 1) * run->shape->g.out_batch_stride + run->shape->out_image - 1;
    *last -= 0.5F;
    return status;
}

/* Two images at a time, and the odd one forgotten. */
static csrconv_status run_even_images(const void *state, const struct csrconv_run *run)
{
    struct csrconv_run even = *run;
    even.n -= run->n % 2;
    return right->execute(state, &even);
}

static csrconv_status run_whole_batch(const void *state, const struct csrconv_run *run)
{
    struct csrconv_run whole = *run;
    whole.n = run->shape->g.batch;
    return right->execute(state, &whole);
}

static csrconv_status run_past_the_end(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[run->n * run->shape->g.out_batch_stride] = 0.0F;
    return status;
}

static csrconv_status run_before_the_start(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[-1] = 0.0F;
    return status;
}

static csrconv_status run_into_the_gap(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[run->shape->out_image] = 0.0F;
    return status;
}

static csrconv_status run_leaving_nan(const void *state, const struct csrconv_run *run)
{
    const float kept = run->out[77];
    const csrconv_status status = right->execute(state, run);
    run->out[77] = kept;
    return status;
}

/* As after a kernel that adds to what the output holds. */
static csrconv_status run_accumulating(const void *state, const struct csrconv_run *run)
{
    const float kept = run->out[5];
    const csrconv_status status = right->execute(state, run);
    run->out[5] += kept;
    return status;
}

static csrconv_status run_without_bias(const void *state, const struct csrconv_run *run)
{
    csrconv_epilogue epilogue = *run->epilogue;
    struct csrconv_run bare = *run;
    epilogue.bias = NULL;
    bare.epilogue = &epilogue;
    return right->execute(state, &bare);
}

static csrconv_status run_without_residual(const void *state, const struct csrconv_run *run)
{
    struct csrconv_run bare = *run;
    bare.residual = NULL;
    return right->execute(state, &bare);
}

/* Within the bound, but another rounding in every second run. */
static csrconv_status run_unrepeatably(const void *state, const struct csrconv_run *run)
{
    static int runs;
    const csrconv_status status = right->execute(state, run);
    for (int64_t i = 0; i < run->shape->out_image && runs % 2; i++)
        run->out[i] = nextafterf(run->out[i], 2.0F * run->out[i]);
    runs++;
    return status;
}

static csrconv_status run_and_fail(const void *state, const struct csrconv_run *run)
{
    (void)state;
    (void)run;
    return csrconv_fail(CSRCONV_EXECUTION_FAILED, "the machine is on fire");
}

/* Reads the float behind the last image: a guard, which is NaN. */
static csrconv_status run_reading_beyond(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[3] += 0.0F * run->in[run->shape->g.batch * run->shape->g.in_batch_stride];
    return status;
}

struct fault {
    const char *name;
    csrconv_status (*execute)(const void *state, const struct csrconv_run *run);
    const char *reason; /* that the trial gives */
};

static const struct fault faults[] = {
    { "one wrong", run_one_wrong, "out[1][1][3][4] is" },
    { "last wrong", run_last_wrong, "out[2][5][8][7] is" },
    { "even images", run_even_images, "out[2][0][0][0] is nan" },
    { "whole batch", run_whole_batch, "wrote outside the output" },
    { "past the end", run_past_the_end, "wrote outside the output, 1329 floats" },
    { "before the start", run_before_the_start, "the output, -1 floats" },
    { "into the gap", run_into_the_gap, "the output, 432 floats" },
    { "leaving NaN", run_leaving_nan, "out[0][1][0][5] is nan" },
    { "accumulating", run_accumulating, "out[0][0][0][5] is nan" },
    { "without bias", run_without_bias, "out[0]" },
    { "without residual", run_without_residual, "out[0]" },
    { "reading beyond", run_reading_beyond, "out[0][0][0][3] is nan" },
    { "unrepeatably", run_unrepeatably, "" },
    { "failing", run_and_fail, "the machine is on fire" },
};

/* The real thing under another name, or with a fault. */
static struct csrconv_algorithm variant_of(const char *name)
{
    struct csrconv_algorithm algorithm = *right;
    algorithm.info.name = name;
    algorithm.execute = run_right;
    return algorithm;
}

/* A layer set up for trials, its tensors and its answers. */
struct set {
    struct workload workload;
    struct reference reference;
    struct stage stage;
};

static void set_make(struct set *set, bool is_exact)
{
    const csrconv_geometry g = layer();
    const struct workload_options options = {
        .seed = 7, .sparsity = 0.7, .is_exact = is_exact, .has_bias = true, .has_residual = true
    };
    assert_int_equal(workload_make(&g, &options, &set->workload), 0);
    assert_int_equal(reference_make(&set->workload, 7, &set->reference), 0);
    assert_int_equal(stage_make(&set->workload, CSRCONV_DEVICE_CPU, 0, &set->stage), 0);
}

static void set_free(struct set *set)
{
    stage_free(&set->stage);
    reference_free(&set->reference);
    workload_free(&set->workload);
}

static void try_algorithm(struct set *set, const csrconv_algorithm *algorithm, struct trial *trial)
{
    trial_make(&set->stage, algorithm, 1, trial);
    trial_verify(trial, &set->reference, RUN);
    trial_free(trial);
}

static void the_specification_passes(void **state)
{
    const struct csrconv_algorithm same = variant_of("same");
    (void)state;
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        struct set set;
        struct trial trial;
        set_make(&set, is_exact);
        try_algorithm(&set, &same, &trial);
        assert_string_equal(trial.reason, "");
        assert_int_equal(trial.status, TRIAL_PASSED);
        assert_true(is_exact ? trial.max_error == 0.0 : trial.max_error < 1.0);
        set_free(&set);
    }
}

static void every_fault_is_found(void **state)
{
    (void)state;
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        struct set set;
        set_make(&set, is_exact);
        for (int i = 0; i < COUNT_OF(faults); i++) {
            struct csrconv_algorithm wrong = variant_of(faults[i].name);
            struct trial trial;
            wrong.execute = faults[i].execute;
            try_algorithm(&set, &wrong, &trial);
            print_message("%s: %s\n", faults[i].name, trial.reason);
            assert_int_equal(trial.status, TRIAL_FAILED);
            assert_non_null(strstr(trial.reason, faults[i].reason));
        }
        set_free(&set);
    }
}

/* A rounding error too large for the bound is a fault, one within it is not. */
static csrconv_status run_roughly(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[0] *= 1.0F + 1e-3F;
    return status;
}

static csrconv_status run_almost(const void *state, const struct csrconv_run *run)
{
    const csrconv_status status = right->execute(state, run);
    run->out[0] = nextafterf(run->out[0], 0.0F);
    return status;
}

static void rounding_has_its_bound(void **state)
{
    struct csrconv_algorithm rough = variant_of("rough"), almost = variant_of("almost");
    struct set set;
    struct trial trial;
    (void)state;
    rough.execute = run_roughly;
    almost.execute = run_almost;
    set_make(&set, false);
    try_algorithm(&set, &almost, &trial);
    assert_int_equal(trial.status, TRIAL_PASSED);
    try_algorithm(&set, &rough, &trial);
    assert_int_equal(trial.status, TRIAL_FAILED);
    set_free(&set);
    set_make(&set, true);
    try_algorithm(&set, &almost, &trial);
    assert_int_equal(trial.status, TRIAL_FAILED);
    set_free(&set);
}

static csrconv_status refuse(const struct csrconv_algorithm *self,
                             const struct csrconv_problem *problem,
                             struct csrconv_estimate *estimate)
{
    (void)self;
    (void)problem;
    (void)estimate;
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "not today");
}

static void a_refusal_is_a_skip(void **state)
{
    struct csrconv_algorithm picky = variant_of("picky");
    struct set set;
    struct trial trial;
    (void)state;
    picky.estimate = refuse;
    set_make(&set, true);
    try_algorithm(&set, &picky, &trial);
    assert_int_equal(trial.status, TRIAL_REFUSED);
    assert_string_equal(trial.reason, "not today");
    set_free(&set);
}

/* Peers need not repeat their bits. */
static void peers_may_be_unrepeatable(void **state)
{
    struct csrconv_algorithm peer = variant_of("peer");
    struct set set;
    struct trial trial;
    (void)state;
    peer.execute = run_unrepeatably;
    peer.info.is_peer = 1;
    set_make(&set, false);
    try_algorithm(&set, &peer, &trial);
    assert_int_equal(trial.status, TRIAL_PASSED);
    set_free(&set);
}

/* What a sampled reference leaves unseen is held against another algorithm, which has to run. */
static void held_against(csrconv_status (*execute)(const void *, const struct csrconv_run *),
                         csrconv_status (*other_execute)(const void *, const struct csrconv_run *),
                         enum trial_status status, const char *reason)
{
    struct csrconv_algorithm algorithm = variant_of("one"), other = variant_of("other");
    struct set set;
    struct trial trial, other_trial;
    algorithm.execute = execute;
    other.execute = other_execute;
    set_make(&set, true);
    trial_make(&set.stage, &algorithm, 1, &trial);
    trial_make(&set.stage, &other, 1, &other_trial);
    trial_cross_check(&trial, &other_trial);
    assert_int_equal(trial.status, status);
    assert_non_null(strstr(trial.reason, reason));
    trial_free(&other_trial);
    trial_free(&trial);
    set_free(&set);
}

static void another_algorithm_finds_faults(void **state)
{
    (void)state;
    held_against(run_right, run_right, TRIAL_PASSED, "");
    held_against(run_one_wrong, run_right, TRIAL_FAILED, "(against other)");
    held_against(run_right, run_one_wrong, TRIAL_FAILED, "(against other)");
    held_against(run_right, run_and_fail, TRIAL_FAILED, "cannot be held against other");
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
        cmocka_unit_test(the_specification_passes),
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(rounding_has_its_bound),
        cmocka_unit_test(a_refusal_is_a_skip),
        cmocka_unit_test(peers_may_be_unrepeatable),
        cmocka_unit_test(another_algorithm_finds_faults),
    };
    return cmocka_run_group_tests_name("check_fails", tests, find_the_specification, NULL);
}
