#include "complain.h"
#include "gpu.h"
#include "place.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

static const size_t flush_bytes = 256U << 20;

/* The one GPU that the process works on, and what it has there. */
static struct {
    int ordinal;
    cudaStream_t stream;
    cudaEvent_t start, end;
    void *flush; /* flush_bytes, once they were wanted */
} gpu;

static int checked(const char *what, cudaError_t error)
{
    if (!error)
        return EXIT_DONE;
    (void)cudaGetLastError();
    return complain(EXIT_WRONG, what, "%s", cudaGetErrorString(error));
}

static void leave(void)
{
    if (gpu.start)
        (void)cudaEventDestroy(gpu.start);
    if (gpu.end)
        (void)cudaEventDestroy(gpu.end);
    if (gpu.stream)
        (void)cudaStreamDestroy(gpu.stream);
    if (gpu.flush)
        (void)cudaFree(gpu.flush);
    (void)cudaGetLastError();
    memset(&gpu, 0, sizeof gpu);
}

/* The stream does not wait for the default one, so that a call that strays there is found. */
static cudaError_t enter(int ordinal)
{
    cudaError_t error = cudaSetDevice(ordinal);
    gpu.ordinal = ordinal;
    if (!error)
        error = cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreate(&gpu.start);
    return error ? error : cudaEventCreate(&gpu.end);
}

static int cuda_select(int ordinal)
{
    cudaError_t error;
    if (gpu.end && gpu.ordinal == ordinal)
        return checked("cuda", cudaSetDevice(ordinal));
    leave();
    error = enter(ordinal);
    if (error)
        leave();
    return checked("cuda", error);
}

static void *cuda_stream(void)
{
    return gpu.stream;
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
    return checked("cuda", cudaStreamSynchronize(gpu.stream));
}

static int copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const int code = checked("cuda", cudaMemcpyAsync(to, from, bytes, kind, gpu.stream));
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

/* ------------------------------------------------------------------------------ rows as graphs */

static csrconv_status make_calls(const struct row *row)
{
    csrconv_status status = CSRCONV_OK;
    for (int64_t i = 0; i < row->count && !status; i++)
        status = row->call(row->context);
    return status;
}

/* The calls as a graph; NULL: a call failed, as one may that cannot be captured. */
static cudaError_t capture(const struct row *row, cudaGraph_t *graph, csrconv_status *status)
{
    cudaError_t error = cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal);
    if (error)
        return error;
    *status = make_calls(row);
    return cudaStreamEndCapture(gpu.stream, graph);
}

/* Calls that stray to another stream leave nothing in the graph. */
static const char *instantiate(cudaGraph_t graph, cudaGraphExec_t *executable)
{
    size_t nodes = 0;
    cudaError_t error = cudaGraphGetNodes(graph, NULL, &nodes);
    if (!error && !nodes)
        return "it queues nothing on its stream";
    if (!error)
        error = cudaGraphInstantiate(executable, graph, 0);
    return error ? cudaGetErrorString(error) : NULL;
}

static int cuda_record(struct row *row)
{
    cudaGraphExec_t executable = NULL;
    cudaGraph_t graph = NULL;
    csrconv_status status = CSRCONV_OK;
    const cudaError_t error = capture(row, &graph, &status);
    const char *why = status  ? csrconv_last_error()
                      : error ? cudaGetErrorString(error)
                              : instantiate(graph, &executable);
    snprintf(row->uncaptured, sizeof row->uncaptured, "%s", why ? why : "");
    row->graph = why ? NULL : executable;
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (why)
        (void)cudaGetLastError();
    return EXIT_DONE;
}

static void cuda_forget(struct row *row)
{
    if (row->graph && cudaGraphExecDestroy(row->graph))
        (void)cudaGetLastError();
    row->graph = NULL;
}

static int cuda_warm(const struct row *row)
{
    if (row->graph)
        return checked(row->name, cudaGraphLaunch(row->graph, gpu.stream));
    if (make_calls(row))
        return complain(EXIT_WRONG, row->name, "%s", csrconv_last_error());
    return EXIT_DONE;
}

static int cuda_replay(const struct row *row, double *us)
{
    float ms = 0.0F;
    int code;
    if ((code = checked(row->name, cudaEventRecord(gpu.start, gpu.stream))) ||
        (code = cuda_warm(row)) ||
        (code = checked(row->name, cudaEventRecord(gpu.end, gpu.stream))) ||
        (code = checked(row->name, cudaEventSynchronize(gpu.end))))
        return code;
    code = checked(row->name, cudaEventElapsedTime(&ms, gpu.start, gpu.end));
    *us = (double)ms * 1e3;
    return code;
}

static int cuda_flush(void)
{
    static int value;
    if (!gpu.flush && !(gpu.flush = cuda_allocate(flush_bytes)))
        return complain(EXIT_WRONG, "--cold", "no room for %zu bytes to flush the caches with",
                        flush_bytes);
    return checked("--cold", cudaMemsetAsync(gpu.flush, ++value & 255, flush_bytes, gpu.stream));
}

const struct place place_cuda = {
    .device = CSRCONV_DEVICE_CUDA,
    .row_us = 4000.0, /* against a graph's start and the events' step */
    .count = gpu_count,
    .describe = gpu_describe,
    .warm_up_us = 1e4, /* for the clock of an idle GPU to rise */
    .select = cuda_select,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .upload = cuda_upload,
    .download = cuda_download,
    .stream = cuda_stream,
    .finish = cuda_finish,
    .record = cuda_record,
    .forget = cuda_forget,
    .replay = cuda_replay,
    .warm = cuda_warm,
    .flush = cuda_flush,
    .floors = gpu_floors,
};
