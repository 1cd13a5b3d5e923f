#include "backend.h"

#include "contest.h"
#include "cpu_model.h"
#include "cuda_model.h"
#include "cuda_pad.h"
#include "runtime.h"

#include <stdio.h>

static csrconv_status check_of(int ordinal, cudaError_t error)
{
    char what[32];
    snprintf(what, sizeof what, "cuda:%d", ordinal);
    return csrconv_cuda_check(error, what);
}

static csrconv_status count_devices(int ordinal, int *count)
{
    const cudaError_t error = cudaGetDeviceCount(count);
    if (!error)
        return CSRCONV_OK;
    (void)cudaGetLastError();
    if (error == cudaErrorInsufficientDriver)
        return csrconv_fail(CSRCONV_NO_DEVICE,
                            "cuda:%d: no NVIDIA driver, or one older than CUDA %d.%d", ordinal,
                            CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return check_of(ordinal, error);
}

/* CSRCONV_OK if this build has machine code for the current GPU. */
static csrconv_status check_code(int ordinal, const struct csrconv_cuda_device *device)
{
    const cudaError_t error = csrconv_cuda_has_code();
    const csrconv_status status = check_of(ordinal, error);
    if (status == CSRCONV_NO_DEVICE)
        return csrconv_fail(
            status, "cuda:%d has compute capability %d.%d: this build has no code for it (%s)",
            ordinal, device->capability / 10, device->capability % 10, cudaGetErrorString(error));
    return status;
}

csrconv_status csrconv_cuda_usable(int ordinal)
{
    struct csrconv_cuda_device device;
    int count = 0, previous;
    csrconv_status status = count_devices(ordinal, &count);
    if (status)
        return status;
    if (ordinal >= count)
        return csrconv_fail(CSRCONV_NO_DEVICE, "cuda:%d: there is no such GPU, the last is cuda:%d",
                            ordinal, count - 1);
    if ((status = csrconv_cuda_enter(ordinal, &previous)))
        return status;
    status = csrconv_cuda_describe(&device);
    if (!status)
        status = check_code(ordinal, &device);
    csrconv_cuda_leave(previous);
    return status;
}

csrconv_status csrconv_cuda_enter(int ordinal, int *previous)
{
    cudaError_t error = cudaGetDevice(previous);
    if (!error && *previous != ordinal) {
        error = cudaSetDevice(ordinal);
        if (error)
            csrconv_cuda_leave(*previous);
    }
    /* What an earlier call of the caller's left behind must not pass for a failure of ours. */
    if (!error)
        (void)cudaGetLastError();
    return csrconv_cuda_check(error, "the GPU cannot be made current");
}

/*
 * Initialises the previous device where it was not: without a current context it is not documented
 * which device CUDA's runtime would take next, so the device itself is restored.
 */
void csrconv_cuda_leave(int previous)
{
    int current;
    if (cudaGetDevice(&current) || (current != previous && cudaSetDevice(previous)))
        (void)cudaGetLastError();
}

/* A dense fp32 GEMM at 80 % of 128 lanes a multiprocessor, and the lowering before it. */
double csrconv_cuda_dense_us(const struct csrconv_problem *problem)
{
    const double lanes = 128.0, share = 0.8, least_us = 5.0;
    const struct csrconv_shape *shape = &problem->shape;
    struct csrconv_cuda_device device;
    if (csrconv_cuda_describe(&device))
        return 0.0;
    return least_us +
           csrconv_dense_products(shape) /
               (share * lanes * device.processors * device.clock_ghz * 1e3) +
           csrconv_cuda_lowering_us(shape);
}

csrconv_status csrconv_cuda_model(char *text, size_t bytes)
{
    struct cudaDeviceProp properties;
    int ordinal = 0;
    cudaError_t error = cudaGetDevice(&ordinal);
    if (!error)
        error = cudaGetDeviceProperties(&properties, ordinal);
    if (error)
        return check_of(ordinal, error);
    snprintf(text, bytes, "%.64s, %d multiprocessors", properties.name,
             properties.multiProcessorCount);
    return CSRCONV_OK;
}

csrconv_status csrconv_cuda_take(struct csrconv_memory *memory, int64_t floats, const float *from,
                                 void **out)
{
    return from ? csrconv_cuda_upload(memory, from, floats, sizeof *from, out)
                : csrconv_cuda_allocate(memory, floats, sizeof *from, out);
}

void csrconv_cuda_give_back(void *block)
{
    csrconv_cuda_free(block);
}

struct timed {
    csrconv_queue_run *queue;
    void *context;
};

static csrconv_status attempt(void *context, int candidate, cudaStream_t stream)
{
    const struct timed *timed = context;
    (void)candidate;
    return timed->queue(timed->context, stream);
}

csrconv_status csrconv_cuda_time(csrconv_queue_run *queue, void *context, double *us)
{
    struct timed timed = { queue, context };
    struct csrconv_cuda_outcome outcome;
    const csrconv_status status = csrconv_cuda_contest(1, attempt, &timed, &outcome);
    *us = outcome.us;
    return status;
}
