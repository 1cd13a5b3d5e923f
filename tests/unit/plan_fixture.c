#include "plan_fixture.h"

int make_fixture(void **state)
{
    static struct fixture fixture;
    fixture.geometry = geometry_of(4, 6, 7, 5, 3, 3);
    fixture.geometry.pad_top = fixture.geometry.pad_left = 1;
    fixture.weights = weights_of(&fixture.geometry);
    csrconv_plan_options_init(&fixture.options);
    fixture.options.device = CSRCONV_DEVICE_CPU;
    *state = &fixture;
    return 0;
}

int free_fixture(void **state)
{
    struct fixture *fixture = *state;
    csrconv_weights_destroy(&fixture->weights);
    return 0;
}

csrconv_plan *plan_of(const struct fixture *f)
{
    csrconv_plan *plan;
    assert_ok(csrconv_plan_create(f->weights, &f->geometry, &f->options, &plan));
    assert_non_null(plan);
    return plan;
}

csrconv_plan_info describe(const csrconv_plan *plan)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    assert_ok(csrconv_plan_describe(plan, &info));
    return info;
}

csrconv_candidate candidate_of(const csrconv_plan *plan, int index)
{
    csrconv_candidate candidate = { .struct_size = sizeof candidate };
    assert_ok(csrconv_plan_candidate(plan, index, &candidate));
    return candidate;
}

csrconv_status claim(const struct csrconv_algorithm *self, const struct csrconv_problem *problem,
                     struct csrconv_estimate *estimate)
{
    (void)self;
    (void)problem;
    estimate->us = 1e-6;
    return CSRCONV_OK;
}

void refuse(const struct fixture *f, csrconv_status status, const char *fragment)
{
    csrconv_plan *plan = (csrconv_plan *)&plan;
    assert_fails(csrconv_plan_create(f->weights, &f->geometry, &f->options, &plan), status,
                 fragment);
    assert_null(plan);
}

void run_serially(void *context, int64_t count, void (*task)(void *, int64_t), void *argument)
{
    (void)context;
    for (int64_t i = 0; i < count; i++)
        task(argument, i);
}
