/* How failures of the CUDA runtime become statuses and sentences; needs no GPU and no driver. */
#include "plan_fixture.h"

#include "runtime.h"

#include <string.h>

struct mapping {
    cudaError_t error;
    csrconv_status status;
};

static const struct mapping mappings[] = {
    { cudaErrorMemoryAllocation, CSRCONV_OUT_OF_MEMORY },
    { cudaErrorNoDevice, CSRCONV_NO_DEVICE },
    { cudaErrorInvalidDevice, CSRCONV_NO_DEVICE },
    { cudaErrorInsufficientDriver, CSRCONV_NO_DEVICE },
    { cudaErrorStubLibrary, CSRCONV_NO_DEVICE },
    { cudaErrorDevicesUnavailable, CSRCONV_NO_DEVICE },
    { cudaErrorInitializationError, CSRCONV_NO_DEVICE },
    { cudaErrorSystemNotReady, CSRCONV_NO_DEVICE },
    { cudaErrorSystemDriverMismatch, CSRCONV_NO_DEVICE },
    { cudaErrorNoKernelImageForDevice, CSRCONV_NO_DEVICE },
    { cudaErrorInvalidDeviceFunction, CSRCONV_NO_DEVICE },
    { cudaErrorUnsupportedPtxVersion, CSRCONV_NO_DEVICE },
    { cudaErrorIllegalAddress, CSRCONV_EXECUTION_FAILED },
    { cudaErrorMisalignedAddress, CSRCONV_EXECUTION_FAILED },
    { cudaErrorLaunchFailure, CSRCONV_EXECUTION_FAILED },
    { cudaErrorLaunchTimeout, CSRCONV_EXECUTION_FAILED },
    { cudaErrorLaunchOutOfResources, CSRCONV_EXECUTION_FAILED },
    { cudaErrorInvalidValue, CSRCONV_EXECUTION_FAILED },
    { cudaErrorStreamCaptureUnsupported, CSRCONV_EXECUTION_FAILED },
    { cudaErrorUnknown, CSRCONV_EXECUTION_FAILED },
};

static void every_error_has_its_status(void **state)
{
    (void)state;
    assert_ok(csrconv_cuda_check(cudaSuccess, "nothing"));
    for (int i = 0; i < COUNT_OF(mappings); i++) {
        assert_fails(csrconv_cuda_check(mappings[i].error, "the thing"), mappings[i].status,
                     "the thing: ");
        assert_non_null(strstr(csrconv_last_error(), cudaGetErrorString(mappings[i].error)));
    }
}

static void a_gpu_that_is_not_there_costs_only_its_plan(void **state)
{
    struct fixture *f = *state;
    csrconv_plan *plan;
    f->options.device = CSRCONV_DEVICE_CUDA;
    f->options.ordinal = 1000;
    refuse(f, CSRCONV_NO_DEVICE, "cuda:1000");
    f->options.algorithm = "cuda_direct";
    f->options.device = CSRCONV_DEVICE_AUTO;
    refuse(f, CSRCONV_NO_DEVICE, "cuda:1000");
    f->options.algorithm = "direct";
    f->options.device = CSRCONV_DEVICE_CPU;
    f->options.ordinal = 0;
    plan = plan_of(f);
    csrconv_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_its_status),
        with_fixture(a_gpu_that_is_not_there_costs_only_its_plan),
    };
    return cmocka_run_group_tests_name("cuda_status", tests, NULL, NULL);
}
