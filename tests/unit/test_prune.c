/* Pruning: exact counts, ties, what counts as small. */
#include "helpers.h"

#include <math.h>
#include <string.h>

enum { MANY = 20000 };

static int64_t zeros_of(const float *weights, int64_t count)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; i++)
        zeros += weights[i] == 0.0F;
    return zeros;
}

static void counts_are_exact(void **state)
{
    static const double sparsities[] = { 0.0, 0.001, 0.1, 1.0 / 3.0, 0.5, 0.9, 0.999, 1 - 0x1p-53 };
    static const int64_t counts[] = { 0, 1, 2, 3, 5, 7, 1000, 1001 };
    float weights[1001];
    (void)state;
    for (int s = 0; s < COUNT_OF(sparsities); s++) {
        for (int c = 0; c < COUNT_OF(counts); c++) {
            const int64_t want = llround(sparsities[s] * (double)counts[c]);
            fill_series(weights, counts[c]);
            assert_ok(csrconv_prune_magnitude(weights, counts[c], sparsities[s]));
            assert_int_equal(zeros_of(weights, counts[c]), want);
            fill_series(weights, counts[c]);
            assert_ok(csrconv_prune_random(weights, counts[c], sparsities[s], 5));
            assert_int_equal(zeros_of(weights, counts[c]), want);
        }
    }
}

static void the_smallest_go_whatever_their_sign(void **state)
{
    float weights[] = { -3, 0.5F, 2, -0.25F, 1e-40F, 7 };
    const float left[] = { -3, 0, 2, 0, 0, 7 };
    (void)state;
    assert_ok(csrconv_prune_magnitude(weights, 6, 0.5));
    assert_memory_equal(weights, left, sizeof left);
}

static void ties_go_to_the_lowest_index(void **state)
{
    float weights[] = { 1, -1, 1, 1, -1, 2 };
    const float left[] = { 0, 0, 0, 1, -1, 2 };
    (void)state;
    assert_ok(csrconv_prune_magnitude(weights, 6, 0.5));
    assert_memory_equal(weights, left, sizeof left);
}

static void zeros_that_are_there_are_counted(void **state)
{
    float weights[] = { 5, 0, 1, -0.0F, 3, 2 };
    float random[] = { 5, 0, 1, -0.0F, 3, 2 };
    const float left[] = { 5, 0, 0, 0, 3, 2 };
    (void)state;
    assert_ok(csrconv_prune_magnitude(weights, 6, 0.5));
    for (int i = 0; i < 6; i++)
        assert_true(weights[i] == left[i]);
    assert_ok(csrconv_prune_random(random, 6, 0.5, 9));
    assert_int_equal(zeros_of(random, 6), 3);
}

static void more_zeros_than_asked_for_stay(void **state)
{
    const float given[] = { 0, 4, 0, 0, 2, 0 };
    float weights[6];
    (void)state;
    memcpy(weights, given, sizeof given);
    assert_ok(csrconv_prune_magnitude(weights, 6, 0.3));
    assert_memory_equal(weights, given, sizeof given);
    assert_ok(csrconv_prune_random(weights, 6, 0.3, 1));
    assert_memory_equal(weights, given, sizeof given);
}

static void nan_is_the_largest(void **state)
{
    float weights[] = { -NAN, INFINITY, 1, NAN, -INFINITY, 2 };
    (void)state;
    assert_ok(csrconv_prune_magnitude(weights, 6, 4.0 / 6.0));
    assert_int_equal(zeros_of(weights, 6), 4);
    assert_true(isnan(weights[0]) && isnan(weights[3]));
}

static void everything_may_go(void **state)
{
    float weights[] = { NAN, 1, 2, INFINITY };
    (void)state;
    assert_ok(csrconv_prune_magnitude(weights, 4, 0.9999));
    assert_int_equal(zeros_of(weights, 4), 4);
}

static void bad_arguments_are_refused(void **state)
{
    static const double bad[] = { 1.0, 1.5, -0.1, -HUGE_VAL, HUGE_VAL, (double)NAN };
    float weights[] = { 1, 2 };
    const float given[] = { 1, 2 };
    (void)state;
    for (int i = 0; i < COUNT_OF(bad); i++) {
        assert_fails(csrconv_prune_magnitude(weights, 2, bad[i]), CSRCONV_BAD_ARGUMENT,
                     "sparsity is");
        assert_fails(csrconv_prune_random(weights, 2, bad[i], 1), CSRCONV_BAD_ARGUMENT,
                     "sparsity is");
    }
    assert_fails(csrconv_prune_magnitude(NULL, 2, 0.5), CSRCONV_BAD_ARGUMENT, "weights is NULL");
    assert_fails(csrconv_prune_random(weights, -1, 0.5, 1), CSRCONV_BAD_ARGUMENT, "count is -1");
    assert_ok(csrconv_prune_magnitude(NULL, 0, 0.5));
    assert_memory_equal(weights, given, sizeof given);
}

static void a_seed_is_repeatable_and_seeds_differ(void **state)
{
    float first[200], second[200], other[200];
    (void)state;
    fill_series(first, 200);
    fill_series(second, 200);
    fill_series(other, 200);
    assert_ok(csrconv_prune_random(first, 200, 0.5, 42));
    assert_ok(csrconv_prune_random(second, 200, 0.5, 42));
    assert_ok(csrconv_prune_random(other, 200, 0.5, 43));
    assert_memory_equal(first, second, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

/* Of 20,000 at 0.3, each twentieth gets 300 zeros with a deviation of 14. */
static void random_pruning_is_even(void **state)
{
    float *weights = test_malloc(MANY * sizeof *weights);
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        fill_series(weights, MANY);
        assert_ok(csrconv_prune_random(weights, MANY, 0.3, seed));
        for (int part = 0; part < 20; part++)
            assert_in_range(zeros_of(weights + part * MANY / 20, MANY / 20), 230, 370);
    }
    test_free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(the_smallest_go_whatever_their_sign),
        cmocka_unit_test(ties_go_to_the_lowest_index),
        cmocka_unit_test(zeros_that_are_there_are_counted),
        cmocka_unit_test(more_zeros_than_asked_for_stay),
        cmocka_unit_test(nan_is_the_largest),
        cmocka_unit_test(everything_may_go),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_seed_is_repeatable_and_seeds_differ),
        cmocka_unit_test(random_pruning_is_even),
    };
    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
