#include "contest.h"

#include "clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLAYS = 7, MOST_RUNS = 20 };

static const float aim_ms = 0.5F; /* of a replay: long against its launch and the events' step */

/* A candidate is out whose second run takes so many times the best so far. */
static const double hopeless = 1.5;

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

/*
 * One run by itself: what it loads and sets up at its first call is not captured and not timed.
 * *queueing_ms is the host's part, in which the GPU may have waited for it.
 */
static csrconv_status warm_up(const struct clock *clock, csrconv_cuda_attempt attempt,
                              void *context, int candidate, float *ms, double *queueing_ms)
{
    csrconv_status status =
        csrconv_cuda_check(cudaEventRecord(clock->start, clock->stream), "a candidate");
    const double begin_us = clock_us();
    if (!status)
        status = attempt(context, candidate, clock->stream);
    *queueing_ms = (clock_us() - begin_us) * 1e-3;
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

/* By the time that the GPU was busy at the least. */
static bool is_hopeless(double busy_ms, const struct csrconv_cuda_outcome *outcome)
{
    return outcome->best >= 0 && busy_ms * 1e3 > hopeless * outcome->us;
}

/* *us = microseconds of a run, 0 if it is out for being slow. */
static csrconv_status time_candidate(const struct clock *clock, csrconv_cuda_attempt attempt,
                                     void *context, int candidate,
                                     const struct csrconv_cuda_outcome *outcome, double *us)
{
    cudaGraphExec_t graph = NULL;
    double queueing_ms;
    float ms;
    int runs;
    csrconv_status status;
    *us = 0.0;
    if ((status = warm_up(clock, attempt, context, candidate, &ms, &queueing_ms)) ||
        (status = warm_up(clock, attempt, context, candidate, &ms, &queueing_ms)))
        return status;
    if (is_hopeless((double)ms - queueing_ms, outcome))
        return CSRCONV_OK;
    runs = ms * MOST_RUNS <= aim_ms ? MOST_RUNS : (int)(aim_ms / ms) + 1;
    if ((status = capture(clock, attempt, context, candidate, runs, &graph)))
        return status;
    status = time_replays(clock, graph, &ms);
    (void)cudaGraphExecDestroy(graph);
    if (!status)
        *us = (double)ms * 1e3 / runs;
    return status;
}

/*
 * After a candidate's failure. A call that failed leaves the stream in order; a kernel that faulted
 * has taken the context along, and every synchronisation says so.
 */
static csrconv_status check_context(const struct clock *clock, int candidate, int count)
{
    const cudaError_t error = cudaStreamSynchronize(clock->stream);
    char what[64];
    snprintf(what, sizeof what, "candidate %d of %d", candidate + 1, count);
    return csrconv_cuda_check(error, what);
}

static csrconv_status hold(const struct clock *clock, int count, csrconv_cuda_attempt attempt,
                           void *context, struct csrconv_cuda_outcome *outcome)
{
    csrconv_status failure = CSRCONV_OK;
    for (int i = 0; i < count; i++) {
        double us;
        const csrconv_status status = time_candidate(clock, attempt, context, i, outcome, &us);
        if (status) {
            const csrconv_status lost = check_context(clock, i, count);
            outcome->failures++;
            if (lost) {
                outcome->culprit = i;
                return lost;
            }
            failure = status;
        } else if (us > 0.0 && (outcome->best < 0 || us < outcome->us)) {
            outcome->best = i;
            outcome->us = us;
        }
    }
    return outcome->best < 0 ? failure : CSRCONV_OK;
}

csrconv_status csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                    struct csrconv_cuda_outcome *outcome)
{
    struct clock clock = { 0 };
    csrconv_status status = csrconv_cuda_check(clock_make(&clock), "a contest");
    *outcome = (struct csrconv_cuda_outcome){ .best = -1, .culprit = -1 };
    if (!status)
        status = hold(&clock, count, attempt, context, outcome);
    clock_free(&clock);
    return status;
}
