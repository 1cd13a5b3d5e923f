/* What plan options are refused, and with what sentence. */
#include "plan_fixture.h"

#include <math.h>

static void unknown_names_are_told(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = { "nosuch", "", "Direct", "direct ", "openblas" };
    for (int i = 0; i < COUNT_OF(names); i++) {
        f->options.algorithm = names[i];
        refuse(f, CSRCONV_UNKNOWN_ALGORITHM, names[i]);
    }
}

static void a_device_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;
    const csrconv_status usable = csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0);
    if (usable == CSRCONV_OK) {
        print_message("skipped: there is a GPU\n");
        skip();
    }
    assert_true(usable == CSRCONV_NOT_BUILT || usable == CSRCONV_NO_DEVICE);
    f->options.device = CSRCONV_DEVICE_CUDA;
    refuse(f, usable, "cuda:0");
    f->options.device = CSRCONV_DEVICE_AUTO;
    f->options.ordinal = 2;
    refuse(f, CSRCONV_NO_DEVICE, "cpu:2");
    f->options.ordinal = -1;
    refuse(f, CSRCONV_BAD_ARGUMENT, "-1");
    f->options.device = (csrconv_device)9;
    f->options.ordinal = 0;
    refuse(f, CSRCONV_BAD_ARGUMENT, "device is 9");
}

static void bad_epilogues_are_refused(void **state)
{
    struct fixture *f = *state;
    csrconv_epilogue *e = &f->options.epilogue;
    e->activation = (csrconv_activation)3;
    refuse(f, CSRCONV_BAD_ARGUMENT, "activation is 3");
    e->activation = (csrconv_activation)-1;
    refuse(f, CSRCONV_BAD_ARGUMENT, "activation is -1");
    e->activation = CSRCONV_ACTIVATION_CLAMP;
    e->lo = 1.0F;
    e->hi = 0.5F;
    refuse(f, CSRCONV_BAD_ARGUMENT, "clamp to [1, 0.5] is empty");
    e->hi = NAN;
    refuse(f, CSRCONV_BAD_ARGUMENT, "clamp");
    e->activation = CSRCONV_ACTIVATION_NONE; /* lo and hi do not matter then */
    e->residual = 2;
    refuse(f, CSRCONV_BAD_ARGUMENT, "residual is 2");
}

static void bad_services_are_refused(void **state)
{
    struct fixture *f = *state;
    struct counted counted = { 0 };
    csrconv_allocator hooks = counted_allocator(&counted);
    csrconv_parallel parallel = { NULL, 1, NULL };
    f->options.threads = -1;
    refuse(f, CSRCONV_BAD_ARGUMENT, "threads is -1");
    f->options.threads = 4097;
    refuse(f, CSRCONV_BAD_ARGUMENT, "threads is 4097");
    f->options.threads = 0;
    f->options.parallel = &parallel;
    refuse(f, CSRCONV_BAD_ARGUMENT, "parallel.run is NULL");
    parallel.run = run_serially;
    parallel.threads = 0;
    refuse(f, CSRCONV_BAD_ARGUMENT, "parallel.threads is 0");
    f->options.parallel = NULL;
    f->options.allocator = &hooks;
    hooks.release = NULL;
    refuse(f, CSRCONV_BAD_ARGUMENT, "allocator.release is NULL");
    hooks = counted_allocator(&counted);
    hooks.allocate = NULL;
    refuse(f, CSRCONV_BAD_ARGUMENT, "allocator.allocate is NULL");
    f->options.struct_size--;
    refuse(f, CSRCONV_VERSION_MISMATCH, "csrconv_plan_options.struct_size");
    assert_int_equal(counted.allocations, 0);
}

static void weights_of_another_layer_are_refused(void **state)
{
    struct fixture *f = *state;
    const csrconv_geometry right = f->geometry;
    f->geometry.filters = 6;
    refuse(f, CSRCONV_BAD_GEOMETRY, "6 filters");
    f->geometry = right;
    f->geometry.channels = 8;
    refuse(f, CSRCONV_BAD_GEOMETRY, "8 channels per group");
    f->geometry = right;
    f->geometry.kernel_h = 2;
    refuse(f, CSRCONV_BAD_GEOMETRY, "kernel 2 x 3");
    f->geometry = right;
    f->geometry.kernel_w = 1;
    refuse(f, CSRCONV_BAD_GEOMETRY, "kernel 3 x 1");
    f->geometry = right;
    f->geometry.pad_left = -1;
    refuse(f, CSRCONV_BAD_GEOMETRY, "pad_left is -1");
}

/* A caller that was built with the header of 0.1.0 as it began, and has other things behind it. */
static void options_of_the_first_size_are_taken(void **state)
{
    struct fixture *f = *state;
    csrconv_plan *plan;
    f->options.algorithm = "direct";
    f->options.threads = 2;
    f->options.struct_size = offsetof(csrconv_plan_options, tune);
    f->options.tune = 77;
    f->options.choice = "not there";
    plan = plan_of(f);
    assert_int_equal(describe(plan).threads, 2);
    csrconv_plan_destroy(&plan);
    f->options.struct_size = sizeof f->options;
    refuse(f, CSRCONV_BAD_ARGUMENT, "tune is 77");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(unknown_names_are_told),
        with_fixture(a_device_that_is_not_there_is_refused),
        with_fixture(bad_epilogues_are_refused),
        with_fixture(bad_services_are_refused),
        with_fixture(options_of_the_first_size_are_taken),
        with_fixture(weights_of_another_layer_are_refused),
    };
    return cmocka_run_group_tests_name("plan_options", tests, NULL, NULL);
}
