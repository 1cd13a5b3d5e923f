/*
 * A machine without a GPU, or without its driver (the build hides what there is): CPU plans work,
 * and plans for a GPU fail with a status and a sentence, also in a build with CUDA.
 */
#include "helpers.h"

#include "choose.h"

static csrconv_status missing(void)
{
    return csrconv_find_algorithm("cuda_direct", NULL) ? CSRCONV_NO_DEVICE : CSRCONV_NOT_BUILT;
}

static csrconv_status plan_for(csrconv_device device, const char *algorithm, csrconv_plan **plan)
{
    const csrconv_geometry geometry = geometry_of(3, 6, 5, 4, 3, 3);
    csrconv_weights *weights = weights_of(&geometry);
    csrconv_plan_options options;
    csrconv_status status;
    csrconv_plan_options_init(&options);
    options.device = device;
    options.algorithm = algorithm;
    status = csrconv_plan_create(weights, &geometry, &options, plan);
    csrconv_weights_destroy(&weights);
    return status;
}

static void says_why_there_is_no_device(void **state)
{
    (void)state;
    assert_fails(csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0), missing(), "cuda:0");
    assert_fails(csrconv_device_usable(CSRCONV_DEVICE_CUDA, 3), missing(), "cuda:3");
}

static void plans_for_a_gpu_fail(void **state)
{
    csrconv_plan *plan;
    (void)state;
    assert_fails(plan_for(CSRCONV_DEVICE_CUDA, NULL, &plan), missing(), "cuda:0");
    assert_null(plan);
    if (missing() == CSRCONV_NO_DEVICE) {
        assert_fails(plan_for(CSRCONV_DEVICE_AUTO, "cuda_direct", &plan), CSRCONV_NO_DEVICE,
                     "cuda:0");
        assert_null(plan);
    }
}

static void plans_for_the_cpu_work(void **state)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan *plan;
    (void)state;
    assert_ok(plan_for(CSRCONV_DEVICE_AUTO, NULL, &plan));
    assert_ok(csrconv_plan_describe(plan, &info));
    assert_int_equal(info.device, CSRCONV_DEVICE_CPU);
    csrconv_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_there_is_no_device),
        cmocka_unit_test(plans_for_a_gpu_fail),
        cmocka_unit_test(plans_for_the_cpu_work),
    };
    return cmocka_run_group_tests_name("no_gpu", tests, NULL, NULL);
}
