/*
 * oneDNN makes a primitive for as many threads as OpenMP would start at that moment, and keeps to
 * that: they must be the plan's from the first plan of a process on.
 */
#include "helpers.h"

#include "algorithm.h"

#include <omp.h>

static void a_plan_is_made_for_its_threads(void **state)
{
    csrconv_geometry geometry = geometry_of(8, 9, 9, 8, 3, 3);
    csrconv_weights *weights = weights_of(&geometry);
    csrconv_plan_options options;
    csrconv_plan *plan = NULL;
    (void)state;
    csrconv_plan_options_init(&options);
    options.device = CSRCONV_DEVICE_CPU;
    options.algorithm = "onednn";
    options.peers = csrconv_peer_table;
    for (int threads = 3; threads >= 1; threads--) {
        options.threads = threads;
        assert_ok(csrconv_plan_create(weights, &geometry, &options, &plan));
        assert_int_equal(omp_get_max_threads(), threads);
        csrconv_plan_destroy(&plan);
    }
    csrconv_weights_destroy(&weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_plan_is_made_for_its_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
