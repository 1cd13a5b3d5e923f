#include "cudnn_fixture.h"

cudnnBackendDescriptor_t described_gpu;

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
bool describe_gpu(void)
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

bool describe_gpu(void)
{
    (void)csrconv_fail(CSRCONV_NOT_SUPPORTED, "cuDNN before 9.8 knows no GPU by description");
    return false;
}

#endif
