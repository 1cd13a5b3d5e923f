#include "device.h"

#include "backend.h"
#include "cpu_model.h"
#include "status.h"

csrconv_status csrconv_device_resolve(csrconv_device *device, int ordinal)
{
    if (*device == CSRCONV_DEVICE_AUTO)
        *device = csrconv_device_usable(CSRCONV_DEVICE_CUDA, ordinal) ? CSRCONV_DEVICE_CPU
                                                                      : CSRCONV_DEVICE_CUDA;
    return csrconv_device_usable(*device, ordinal);
}

csrconv_status csrconv_device_usable(csrconv_device device, int ordinal)
{
    if (ordinal < 0)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "device ordinal is %d", ordinal);
    switch (device) {
    case CSRCONV_DEVICE_AUTO:
    case CSRCONV_DEVICE_CPU:
        if (ordinal == 0)
            return CSRCONV_OK;
        return csrconv_fail(CSRCONV_NO_DEVICE, "there is no cpu:%d, only cpu:0", ordinal);
    case CSRCONV_DEVICE_CUDA:
        return csrconv_cuda_usable(ordinal);
    }
    return csrconv_fail(CSRCONV_BAD_ARGUMENT, "device is %d", (int)device);
}

csrconv_status csrconv_device_enter(const struct csrconv_problem *problem, int *previous)
{
    *previous = 0;
    return problem->device == CSRCONV_DEVICE_CUDA ? csrconv_cuda_enter(problem->ordinal, previous)
                                                  : CSRCONV_OK;
}

void csrconv_device_leave(const struct csrconv_problem *problem, int previous)
{
    if (problem->device == CSRCONV_DEVICE_CUDA)
        csrconv_cuda_leave(previous);
}

double csrconv_dense_us(const struct csrconv_problem *problem)
{
    return problem->device == CSRCONV_DEVICE_CUDA ? csrconv_cuda_dense_us(problem)
                                                  : csrconv_cpu_dense_us(problem);
}
