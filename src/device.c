#include "device.h"

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
        return csrconv_fail(CSRCONV_NOT_BUILT, "cuda:%d: this build of csrconv has no CUDA backend",
                            ordinal);
    }
    return csrconv_fail(CSRCONV_BAD_ARGUMENT, "device is %d", (int)device);
}
