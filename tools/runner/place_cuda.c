#include "complain.h"
#include "place.h"

#include <cuda_runtime_api.h>

/* Of the current device; the tools use one device in a process. */
static void *cuda_stream(void)
{
    static cudaStream_t stream;
    if (!stream && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
        stream = NULL;
    return stream;
}

static int checked(cudaError_t error)
{
    if (!error)
        return EXIT_DONE;
    (void)cudaGetLastError();
    return complain(EXIT_WRONG, "cuda", "%s", cudaGetErrorString(error));
}

static void *cuda_allocate(size_t bytes)
{
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes)) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

static void cuda_release(void *memory)
{
    if (cudaFree(memory))
        (void)cudaGetLastError();
}

static int cuda_finish(void)
{
    return checked(cudaStreamSynchronize(cuda_stream()));
}

static int copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const int code = checked(cudaMemcpyAsync(to, from, bytes, kind, cuda_stream()));
    return code ? code : cuda_finish();
}

static int cuda_upload(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, cudaMemcpyHostToDevice);
}

static int cuda_download(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, cudaMemcpyDeviceToHost);
}

const struct place place_cuda = {
    .device = CSRCONV_DEVICE_CUDA,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .upload = cuda_upload,
    .download = cuda_download,
    .stream = cuda_stream,
    .finish = cuda_finish,
};
