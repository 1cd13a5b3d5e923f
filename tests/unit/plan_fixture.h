/* The layer of the tests of plans, and its options for them to change. */
#ifndef CSRCONV_UNIT_PLAN_FIXTURE_H
#define CSRCONV_UNIT_PLAN_FIXTURE_H

#include "helpers.h"

#include "algorithm.h"

/* A layer that everything runs, with its weights. */
struct fixture {
    csrconv_geometry geometry;
    csrconv_weights *weights;
    csrconv_plan_options options;
};

/* For cmocka: *state becomes a struct fixture. */
int make_fixture(void **state);
int free_fixture(void **state);
#define with_fixture(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

csrconv_plan *plan_of(const struct fixture *fixture);
csrconv_plan_info describe(const csrconv_plan *plan);
csrconv_candidate candidate_of(const csrconv_plan *plan, int index);

/* The estimate of a peer that claims to be faster than anything. */
csrconv_status claim(const struct csrconv_algorithm *self, const struct csrconv_problem *problem,
                     struct csrconv_estimate *estimate);

/* The plan must fail with that status, and not be made. */
void refuse(const struct fixture *fixture, csrconv_status status, const char *fragment);

/* A parallel loop that is none. */
void run_serially(void *context, int64_t count, void (*task)(void *argument, int64_t index),
                  void *argument);

#endif
