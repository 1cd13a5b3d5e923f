#include "runtime.h"

#include <stdbool.h>
#include <stdint.h>

/* What no call on this machine, or with this build, would do better at. */
static bool is_no_device(cudaError_t error)
{
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceNotLicensed:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
        return true;
    default:
        return false;
    }
}

static csrconv_status status_of(cudaError_t error)
{
    if (error == cudaErrorMemoryAllocation)
        return CSRCONV_OUT_OF_MEMORY;
    return is_no_device(error) ? CSRCONV_NO_DEVICE : CSRCONV_EXECUTION_FAILED;
}

csrconv_status csrconv_cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return CSRCONV_OK;
    (void)cudaGetLastError();
    return csrconv_fail(status_of(error), "%s: %s", what, cudaGetErrorString(error));
}

csrconv_status csrconv_cuda_load(const void *kernel, const char *name)
{
    struct cudaFuncAttributes attributes;
    return csrconv_cuda_check(cudaFuncGetAttributes(&attributes, kernel), name);
}

csrconv_status csrconv_cuda_launched(const char *kernel)
{
    return csrconv_cuda_check(cudaGetLastError(), kernel);
}

csrconv_status csrconv_cuda_allocate(struct csrconv_memory *memory, int64_t count, size_t size,
                                     void **out)
{
    cudaError_t error;
    size_t bytes;
    *out = NULL;
    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / size)
        return csrconv_fail(CSRCONV_OUT_OF_MEMORY,
                            "%lld elements of %zu bytes do not fit into the address space",
                            (long long)count, size);
    bytes = count ? (size_t)count * size : size;
    error = cudaMalloc(out, bytes);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return csrconv_fail(CSRCONV_OUT_OF_MEMORY, "no GPU memory for %zu bytes", bytes);
    }
    if (error)
        return csrconv_cuda_check(error, "cudaMalloc");
    memory->bytes += bytes;
    return CSRCONV_OK;
}

/* On a stream of its own: the default stream would wait for the caller's other work. */
static cudaError_t copy_up(void *to, const void *from, size_t bytes)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error)
        return error;
    error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
    if (!error)
        error = cudaStreamSynchronize(stream);
    (void)cudaStreamDestroy(stream);
    return error;
}

csrconv_status csrconv_cuda_upload(struct csrconv_memory *memory, const void *from, int64_t count,
                                   size_t size, void **out)
{
    const csrconv_status status = csrconv_cuda_allocate(memory, count, size, out);
    if (status || !count)
        return status;
    return csrconv_cuda_check(copy_up(*out, from, (size_t)count * size), "copy to the GPU");
}

csrconv_status csrconv_cuda_upload_bias(const struct csrconv_problem *problem,
                                        struct csrconv_memory *memory, float **bias)
{
    *bias = NULL;
    if (!problem->epilogue.bias)
        return CSRCONV_OK;
    return csrconv_cuda_upload(memory, problem->epilogue.bias, problem->shape.g.filters,
                               sizeof(float), (void **)bias);
}

void csrconv_cuda_free(void *device)
{
    if (device && cudaFree(device))
        (void)cudaGetLastError();
}

static cudaError_t attribute(int64_t *value, enum cudaDeviceAttr which, int ordinal)
{
    int number = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&number, which, ordinal);
    *value = number;
    return error;
}

csrconv_status csrconv_cuda_describe(struct csrconv_cuda_device *device)
{
    int64_t processors, major, minor, kilohertz;
    int ordinal;
    cudaError_t error = cudaGetDevice(&ordinal);
    if (error || (error = attribute(&processors, cudaDevAttrMultiProcessorCount, ordinal)) ||
        (error = attribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal)) ||
        (error = attribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal)) ||
        (error = attribute(&kilohertz, cudaDevAttrClockRate, ordinal)) ||
        (error = attribute(&device->processor_shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                           ordinal)) ||
        (error = attribute(&device->l2_bytes, cudaDevAttrL2CacheSize, ordinal)) ||
        (error =
             attribute(&device->block_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal)))
        return csrconv_cuda_check(error, "the GPU's attributes");
    device->processors = (int)processors;
    device->capability = (int)(10 * major + minor);
    device->clock_ghz = (double)kilohertz * 1e-6;
    return CSRCONV_OK;
}
