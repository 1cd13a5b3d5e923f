/*
 * The peers of cuDNN as far as they go without a GPU: which plans an arithmetic allows, and what
 * cuDNN proposes for a GPU that is only described. The calls that set a descriptor's attributes go
 * through this file, which puts that description in the place of a handle.
 */
#include "helpers.h"

#include "cudnn_plan.h"

#include <stdio.h>
#include <string.h>

static cudnnBackendDescriptor_t described_gpu;

cudnnStatus_t __real_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void *values);
cudnnStatus_t __wrap_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void *values);

#if CUDNN_VERSION >= 90800

static cudnnStatus_t set_gpu(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name)
{
    return __real_cudnnBackendSetAttribute(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                           &described_gpu);
}

cudnnStatus_t __wrap_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void *values)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    switch (name) {
    case CUDNN_ATTR_OPERATIONGRAPH_HANDLE:
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
        return set_gpu(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    case CUDNN_ATTR_ENGINEHEUR_MODE:
        status = set_gpu(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
        break;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        status = set_gpu(descriptor, CUDNN_ATTR_ENGINE_DEVICEPROP);
        break;
    default:
        break;
    }
    return status ? status : __real_cudnnBackendSetAttribute(descriptor, name, type, count, values);
}

/* An H200, in the words in which cuDNN writes one down. */
static bool describe_gpu(void)
{
    static const char words[] =
        "{\"cudaDeviceId\": 0, \"deviceName\": \"NVIDIA H200\", \"deviceVer\": 900,"
        " \"driverVer\": 13000, \"maxGridSize\": [2147483647, 65535, 65535],"
        " \"maxBlockSize\": [1024, 1024, 64], \"regsPerBlock\": 65536,"
        " \"multiProcessorCount\": 132, \"smClockRateKHz\": 1980000,"
        " \"memClockRateKHz\": 3201000, \"l2CacheSize\": 62914560, \"warpSize\": 32,"
        " \"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": 232448,"
        " \"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536,"
        " \"pciDeviceId\": 0, \"maxCtasPerSM\": 32, \"maxThreadsPerBlock\": 1024,"
        " \"maxThreadsPerSM\": 2048, \"isTccDriver\": 0, \"supportCoopLaunch\": 1,"
        " \"totalGlobalMem\": 150000000000}";
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, sizeof words - 1, words },
    };
    return !csrconv_cudnn_make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the GPU", attributes, 1,
                               &described_gpu);
}

#else

cudnnStatus_t __wrap_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void *values)
{
    return __real_cudnnBackendSetAttribute(descriptor, name, type, count, values);
}

static bool describe_gpu(void)
{
    (void)csrconv_fail(CSRCONV_NOT_SUPPORTED, "cuDNN before 9.8 knows no GPU by description");
    return false;
}

#endif

static const struct csrconv_cudnn_math fp32 = { false, false }, tf32 = { false, true },
                                       fp16 = { true, true };
static const struct csrconv_cudnn_math *const maths[] = { &fp32, &tf32, &fp16 };

static void strides_follow_the_layout(void **state)
{
    const int64_t sizes[4] = { 2, 3, 5, 7 };
    int64_t nchw[4], nhwc[4];
    (void)state;
    csrconv_cudnn_strides(sizes, false, nchw);
    csrconv_cudnn_strides(sizes, true, nhwc);
    for (int64_t n = 0; n < 2; n++)
        for (int64_t c = 0; c < 3; c++)
            for (int64_t y = 0; y < 5; y++)
                for (int64_t x = 0; x < 7; x++) {
                    assert_int_equal(n * nchw[0] + c * nchw[1] + y * nchw[2] + x * nchw[3],
                                     ((n * 3 + c) * 5 + y) * 7 + x);
                    assert_int_equal(n * nhwc[0] + c * nhwc[1] + y * nhwc[2] + x * nhwc[3],
                                     ((n * 5 + y) * 7 + x) * 3 + c);
                }
}

static void an_arithmetic_allows_what_it_says(void **state)
{
    const unsigned tensor_core = 1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    const unsigned down = 1U << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    const unsigned reduced = 1U << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    const unsigned harmless =
        1U << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 | 1U << CUDNN_NUMERICAL_NOTE_FFT |
        1U << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC | 1U << CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
    (void)state;
    for (int i = 0; i < COUNT_OF(maths); i++) {
        assert_true(csrconv_cudnn_allows(maths[i], 0));
        assert_true(csrconv_cudnn_allows(maths[i], harmless));
        assert_false(csrconv_cudnn_allows(maths[i], down));
        assert_false(csrconv_cudnn_allows(maths[i], tensor_core | down));
        assert_int_equal(csrconv_cudnn_allows(maths[i], tensor_core), maths[i] != &fp32);
        assert_int_equal(csrconv_cudnn_allows(maths[i], reduced), maths[i] == &fp16);
    }
}

static void transforms_are_told(void **state)
{
    (void)state;
    assert_null(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_WINOGRAD), "Winograd");
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 | 1U),
                        "Winograd");
    assert_string_equal(csrconv_cudnn_transform(1U << CUDNN_NUMERICAL_NOTE_FFT), "FFT");
}

static csrconv_geometry plain(void)
{
    csrconv_geometry g = geometry_of(64, 14, 14, 96, 3, 3);
    g.batch = 8;
    g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
    return g;
}

/* Everything that a geometry can have. */
static csrconv_geometry odd(void)
{
    csrconv_geometry g = geometry_of(12, 17, 23, 20, 3, 2);
    g.batch = 3;
    g.groups = 4;
    g.stride_w = 2;
    g.dilation_h = 2;
    g.pad_top = 1;
    g.pad_bottom = 3;
    g.pad_right = 2;
    return g;
}

static void check_plans(const struct csrconv_cudnn_plans *plans,
                        const struct csrconv_cudnn_math *math)
{
    assert_in_range(plans->count, 1, CSRCONV_CUDNN_MOST_PLANS);
    for (int i = 0; i < plans->count; i++) {
        const struct csrconv_cudnn_plan *a = &plans->plan[i];
        assert_non_null(a->plan);
        assert_true(csrconv_cudnn_allows(math, a->notes));
        for (int j = 0; j < i; j++)
            assert_false(a->engine == plans->plan[j].engine &&
                         strcmp(a->knobs, plans->plan[j].knobs) == 0);
    }
}

static void plan_problem(const csrconv_geometry *geometry, const struct csrconv_cudnn_math *math,
                         bool is_nhwc)
{
    const struct csrconv_cuda_format format = { is_nhwc, math->is_half };
    struct csrconv_cudnn_graph graph;
    struct csrconv_cudnn_plans plans;
    struct csrconv_shape shape;
    assert_ok(csrconv_shape_init(&shape, geometry));
    assert_ok(csrconv_cudnn_graph_make(NULL, &shape, &format, &graph));
    assert_ok(csrconv_cudnn_plans_find(&graph, math, &plans));
    assert_ok(csrconv_cudnn_plans_build(NULL, &plans));
    check_plans(&plans, math);
    csrconv_cudnn_plans_free(&plans);
    csrconv_cudnn_graph_free(&graph);
}

static void every_problem_gets_plans(void **state)
{
    csrconv_geometry pointwise = geometry_of(32, 7, 7, 48, 1, 1), strided = plain(), deep = plain();
    const csrconv_geometry ordinary = plain(), strange = odd();
    const csrconv_geometry *const all[] = { &ordinary, &strange, &pointwise, &strided, &deep };
    (void)state;
    if (!described_gpu)
        skip();
    strided.stride_h = strided.stride_w = 2;
    deep.groups = 32;
    for (int i = 0; i < COUNT_OF(all); i++)
        for (int m = 0; m < COUNT_OF(maths); m++)
            for (int is_nhwc = 0; is_nhwc < 2; is_nhwc++)
                plan_problem(all[i], maths[m], is_nhwc);
}

static void what_cudnn_refuses_is_told_in_its_words(void **state)
{
    const int64_t none = 0;
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &none },
    };
    cudnnBackendDescriptor_t tensor;
    (void)state;
    assert_fails(
        csrconv_cudnn_make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "the input", attributes, 1, &tensor),
        CSRCONV_NOT_SUPPORTED, "cuDNN, the input: CUDNN_STATUS_BAD_PARAM");
    assert_null(tensor);
    assert_ok(csrconv_cudnn_check(CUDNN_STATUS_SUCCESS, "nothing"));
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "a plan"),
                 CSRCONV_OUT_OF_MEMORY, "a plan");
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_EXECUTION_FAILED, "execute"),
                 CSRCONV_EXECUTION_FAILED, "execute");
    assert_fails(csrconv_cudnn_check(CUDNN_STATUS_NOT_INITIALIZED, "its handle"), CSRCONV_NO_DEVICE,
                 "its handle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_follow_the_layout),
        cmocka_unit_test(an_arithmetic_allows_what_it_says),
        cmocka_unit_test(transforms_are_told),
        cmocka_unit_test(every_problem_gets_plans),
        cmocka_unit_test(what_cudnn_refuses_is_told_in_its_words),
    };
    int failed;
    if (!describe_gpu())
        printf("plans are not tested: %s\n", csrconv_last_error());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    csrconv_cudnn_free(described_gpu);
    return failed;
}
