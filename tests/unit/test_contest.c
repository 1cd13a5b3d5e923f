/*
 * Contests between ways on a GPU, without one: the calls of the CUDA runtime go through this file,
 * by the linker's --wrap, and every run takes as long as its candidate says.
 */
#include "helpers.h"

#include "contest.h"

struct candidate {
    float us;
    csrconv_status status; /* of queueing it */
    cudaError_t fault;     /* that its kernel makes */
};

/* The stream: what is queued since the last event, and what stands in the way of everything. */
static float queued_us;
static cudaError_t sticky;
static bool is_capturing;
static int captures;

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t __wrap_cudaEventCreate(cudaEvent_t *event);
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event);
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t __wrap_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                        unsigned long long flags);
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph);
cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t executable);

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = NULL;
    return sticky;
}

cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    return sticky;
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return sticky;
}

cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    is_capturing = true;
    queued_us = 0.0F;
    captures++;
    return sticky;
}

cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream;
    *graph = NULL;
    is_capturing = false;
    return sticky;
}

cudaError_t __wrap_cudaEventCreate(cudaEvent_t *event)
{
    *event = NULL;
    return sticky;
}

cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return sticky;
}

cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event;
    (void)stream;
    return sticky;
}

/* A graph is launched with what its capture queued, which stays. */
cudaError_t __wrap_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    (void)start;
    (void)end;
    *ms = queued_us * 1e-3F;
    return sticky;
}

cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                        unsigned long long flags)
{
    (void)graph;
    (void)flags;
    *executable = NULL;
    return sticky;
}

cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    (void)executable;
    (void)stream;
    return sticky;
}

cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph)
{
    (void)graph;
    return sticky;
}

cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    (void)executable;
    return sticky;
}

static csrconv_status attempt(void *context, int candidate, cudaStream_t stream)
{
    const struct candidate *c = (const struct candidate *)context + candidate;
    (void)stream;
    if (c->status)
        return csrconv_fail(c->status, "candidate %d does not want to", candidate);
    if (c->fault)
        sticky = c->fault;
    queued_us = is_capturing ? queued_us + c->us : c->us;
    return CSRCONV_OK;
}

static csrconv_status hold(struct candidate *candidates, int count,
                           struct csrconv_cuda_outcome *outcome)
{
    sticky = cudaSuccess;
    captures = 0;
    return csrconv_cuda_contest(count, attempt, candidates, outcome);
}

static void the_fastest_wins(void **state)
{
    struct candidate all[] = { { .us = 3000 }, { .us = 2100 }, { .us = 2000 }, { .us = 2900 } };
    struct csrconv_cuda_outcome outcome;
    (void)state;
    assert_ok(hold(all, COUNT_OF(all), &outcome));
    assert_int_equal(outcome.best, 2);
    assert_true(outcome.us > 1999.0 && outcome.us < 2001.0);
    assert_int_equal(outcome.failures, 0);
    assert_int_equal(outcome.culprit, -1);
}

/* Their numbers are far apart: what the host takes for a run does not count. */
static void the_much_slower_are_not_timed(void **state)
{
    struct candidate all[] = { { .us = 1e6F }, { .us = 9e6F }, { .us = 1.2e6F }, { .us = 8e6F } };
    struct csrconv_cuda_outcome outcome;
    (void)state;
    assert_ok(hold(all, COUNT_OF(all), &outcome));
    assert_int_equal(outcome.best, 0);
    assert_int_equal(captures, 2);
}

static void a_failure_takes_out_one_candidate(void **state)
{
    struct candidate all[] = { { .us = 5, .status = CSRCONV_NOT_SUPPORTED }, { .us = 900 } };
    struct csrconv_cuda_outcome outcome;
    (void)state;
    assert_ok(hold(all, COUNT_OF(all), &outcome));
    assert_int_equal(outcome.best, 1);
    assert_int_equal(outcome.failures, 1);
    all[1].status = CSRCONV_OUT_OF_MEMORY;
    assert_fails(hold(all, COUNT_OF(all), &outcome), CSRCONV_OUT_OF_MEMORY,
                 "candidate 1 does not want to");
    assert_int_equal(outcome.best, -1);
    assert_int_equal(outcome.failures, 2);
    assert_int_equal(outcome.culprit, -1);
}

static void a_fault_ends_the_contest(void **state)
{
    struct candidate all[] = { { .us = 900 },
                               { .us = 5, .fault = cudaErrorMisalignedAddress },
                               { .us = 700 } };
    struct csrconv_cuda_outcome outcome;
    (void)state;
    assert_fails(hold(all, COUNT_OF(all), &outcome), CSRCONV_EXECUTION_FAILED,
                 "candidate 2 of 3: misaligned address");
    assert_int_equal(outcome.culprit, 1);
    assert_int_equal(outcome.failures, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_wins),
        cmocka_unit_test(the_much_slower_are_not_timed),
        cmocka_unit_test(a_failure_takes_out_one_candidate),
        cmocka_unit_test(a_fault_ends_the_contest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
