/* Where a layer would pay by the cost model. */
#include "helpers.h"

#include "complain.h"
#include "payoff_model.h"

#include <stdio.h>

struct layer_of_test {
    struct workload workload;
    struct stage stage;
    struct trial trial;
};

static void set_up(double sparsity, struct layer_of_test *l)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 64, 3, 3);
    const struct workload_options options = { .seed = 1, .sparsity = sparsity };
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    assert_int_equal(workload_make(&g, &options, &l->workload), EXIT_DONE);
    assert_int_equal(stage_make(&l->workload, CSRCONV_DEVICE_CPU, 0, &l->stage), EXIT_DONE);
    trial_make(&l->stage, csrconv_algorithms()[0], 1, &l->trial);
    assert_non_null(l->trial.plan);
}

static void tear_down(struct layer_of_test *l)
{
    trial_free(&l->trial);
    stage_free(&l->stage);
    workload_free(&l->workload);
}

/* Times as the model has them, at 90 % and at 70 %: it must find the 70 %. */
static void finds_the_sparsity_of_a_time(void **state)
{
    struct layer_of_test at_90, at_70;
    double from;
    (void)state;
    set_up(0.9, &at_90);
    set_up(0.7, &at_70);
    from = payoff_by_model(&at_90.trial, at_90.trial.info.estimate_us, at_70.trial.info.estimate_us,
                           1);
    assert_true(from > 0.69 && from < 0.715);
    /* Also if the machine is three times as slow as the model has it. */
    from = payoff_by_model(&at_90.trial, 3.0 * at_90.trial.info.estimate_us,
                           3.0 * at_70.trial.info.estimate_us, 1);
    assert_true(from > 0.69 && from < 0.715);
    tear_down(&at_90);
    tear_down(&at_70);
}

static void knows_its_limits(void **state)
{
    struct layer_of_test l;
    (void)state;
    set_up(0.9, &l);
    assert_true(payoff_by_model(&l.trial, 1.0, 1e6, 1) == payoff_model_lowest);
    assert_true(payoff_by_model(&l.trial, 1.0, 1e-6, 1) == 0.0);
    tear_down(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_sparsity_of_a_time),
        cmocka_unit_test(knows_its_limits),
    };
    return cmocka_run_group_tests_name("payoff_model", tests, NULL, NULL);
}
