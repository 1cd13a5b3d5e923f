#include "contest.h"

#include <stdlib.h>

enum { REPLAYS = 7, MOST_RUNS = 20 };

static const float aim_ms = 0.5F; /* of a replay: long against its launch and the events' step */

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

struct clock {
    cudaStream_t stream;
    cudaEvent_t start, end;
};

static cudaError_t clock_make(struct clock *clock)
{
    cudaError_t error = cudaStreamCreateWithFlags(&clock->stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreate(&clock->start);
    return error ? error : cudaEventCreate(&clock->end);
}

static void clock_free(struct clock *clock)
{
    if (clock->start)
        (void)cudaEventDestroy(clock->start);
    if (clock->end)
        (void)cudaEventDestroy(clock->end);
    if (clock->stream)
        (void)cudaStreamDestroy(clock->stream);
}

/* From the first event to the second, once both are past. */
static csrconv_status read_clock(const struct clock *clock, float *ms)
{
    cudaError_t error = cudaEventRecord(clock->end, clock->stream);
    if (!error)
        error = cudaStreamSynchronize(clock->stream);
    if (!error)
        error = cudaEventElapsedTime(ms, clock->start, clock->end);
    return csrconv_cuda_check(error, "a candidate");
}

/* One run by itself: what it loads and sets up at its first call is not captured and not timed. */
static csrconv_status warm_up(const struct clock *clock, csrconv_cuda_attempt attempt,
                              void *context, int candidate, float *ms)
{
    csrconv_status status =
        csrconv_cuda_check(cudaEventRecord(clock->start, clock->stream), "a candidate");
    if (!status)
        status = attempt(context, candidate, clock->stream);
    return status ? status : read_clock(clock, ms);
}

static csrconv_status instantiate(cudaGraph_t graph, cudaGraphExec_t *out)
{
    const cudaError_t error = cudaGraphInstantiate(out, graph, 0);
    (void)cudaGraphDestroy(graph);
    return csrconv_cuda_check(error, "a candidate's graph");
}

/* A graph of so many runs. The capture ends in any case: the stream is needed again. */
static csrconv_status capture(const struct clock *clock, csrconv_cuda_attempt attempt,
                              void *context, int candidate, int runs, cudaGraphExec_t *out)
{
    cudaGraph_t graph = NULL;
    cudaError_t ended;
    csrconv_status status = csrconv_cuda_check(
        cudaStreamBeginCapture(clock->stream, cudaStreamCaptureModeThreadLocal), "a capture");
    if (status)
        return status;
    for (int i = 0; i < runs && !status; i++)
        status = attempt(context, candidate, clock->stream);
    ended = cudaStreamEndCapture(clock->stream, &graph);
    if (!status)
        status = csrconv_cuda_check(ended, "the capture of a candidate");
    if (!status)
        return instantiate(graph, out);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return status;
}

static csrconv_status replay(const struct clock *clock, cudaGraphExec_t graph, float *ms)
{
    cudaError_t error = cudaEventRecord(clock->start, clock->stream);
    if (!error)
        error = cudaGraphLaunch(graph, clock->stream);
    return error ? csrconv_cuda_check(error, "a candidate's graph") : read_clock(clock, ms);
}

/* The median in milliseconds. */
static csrconv_status time_replays(const struct clock *clock, cudaGraphExec_t graph, float *ms)
{
    float samples[REPLAYS];
    csrconv_status status = replay(clock, graph, &samples[0]);
    for (int i = 0; i < REPLAYS && !status; i++)
        status = replay(clock, graph, &samples[i]);
    if (status)
        return status;
    qsort(samples, REPLAYS, sizeof *samples, ascending);
    *ms = samples[REPLAYS / 2];
    return CSRCONV_OK;
}

/* Microseconds of a run. */
static csrconv_status time_candidate(const struct clock *clock, csrconv_cuda_attempt attempt,
                                     void *context, int candidate, double *us)
{
    cudaGraphExec_t graph = NULL;
    float ms;
    int runs;
    csrconv_status status;
    if ((status = warm_up(clock, attempt, context, candidate, &ms)) ||
        (status = warm_up(clock, attempt, context, candidate, &ms)))
        return status;
    runs = ms * MOST_RUNS <= aim_ms ? MOST_RUNS : (int)(aim_ms / ms) + 1;
    if ((status = capture(clock, attempt, context, candidate, runs, &graph)))
        return status;
    status = time_replays(clock, graph, &ms);
    (void)cudaGraphExecDestroy(graph);
    *us = (double)ms * 1e3 / runs;
    return status;
}

csrconv_status csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                    int *best, double *best_us)
{
    struct clock clock = { 0 };
    csrconv_status status = csrconv_cuda_check(clock_make(&clock), "a contest");
    const int candidates = status ? 0 : count;
    *best = -1;
    for (int i = 0; i < candidates; i++) {
        double us;
        const csrconv_status failure = time_candidate(&clock, attempt, context, i, &us);
        if (failure) {
            status = failure;
        } else if (*best < 0 || us < *best_us) {
            *best = i;
            *best_us = us;
        }
    }
    clock_free(&clock);
    return *best < 0 ? status : CSRCONV_OK;
}
