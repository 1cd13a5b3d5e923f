#include "contest.h"

#include <stdlib.h>

enum { RUNS = 7 };

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

static csrconv_status time_once(const struct clock *clock, csrconv_cuda_attempt attempt,
                                void *context, int candidate, float *ms)
{
    csrconv_status status;
    cudaError_t error = cudaEventRecord(clock->start, clock->stream);
    if ((status = csrconv_cuda_check(error, "event")) ||
        (status = attempt(context, candidate, clock->stream)))
        return status;
    if ((error = cudaEventRecord(clock->end, clock->stream)) ||
        (error = cudaStreamSynchronize(clock->stream)))
        return csrconv_cuda_check(error, "a candidate");
    return csrconv_cuda_check(cudaEventElapsedTime(ms, clock->start, clock->end), "event");
}

/* The median in microseconds, 0 if the candidate fails. */
static double time_candidate(const struct clock *clock, csrconv_cuda_attempt attempt, void *context,
                             int candidate)
{
    float ms[RUNS];
    if (time_once(clock, attempt, context, candidate, &ms[0]))
        return 0.0;
    for (int i = 0; i < RUNS; i++)
        if (time_once(clock, attempt, context, candidate, &ms[i]))
            return 0.0;
    qsort(ms, RUNS, sizeof *ms, ascending);
    return (double)ms[RUNS / 2] * 1e3;
}

int csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context, double *times_us)
{
    struct clock clock = { 0 };
    double fastest_us = 0.0;
    int best = -1;
    if (csrconv_cuda_check(clock_make(&clock), "a contest")) {
        clock_free(&clock);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const double us = time_candidate(&clock, attempt, context, i);
        if (times_us)
            times_us[i] = us;
        if (us > 0.0 && (best < 0 || us < fastest_us)) {
            best = i;
            fastest_us = us;
        }
    }
    clock_free(&clock);
    return best;
}
