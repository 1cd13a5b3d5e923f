/*
 * Which of several ways is the fastest on this GPU, found by running them: for plans that measure
 * instead of estimating, and for peers whose libraries leave that choice to their users. At plan
 * time only.
 */
#ifndef CSRCONV_CUDA_CONTEST_H
#define CSRCONV_CUDA_CONTEST_H

#include "runtime.h"

/*
 * Queues one run of a candidate on the stream, which may be captured; a failure takes it out of the
 * contest.
 */
typedef csrconv_status (*csrconv_cuda_attempt)(void *context, int candidate, cudaStream_t stream);

struct csrconv_cuda_outcome {
    int best;     /* the fastest candidate, -1 if none runs */
    double us;    /* median of its runs */
    int failures; /* candidates that do not run */
    int culprit;  /* the candidate that faulted, else -1 */
};

/*
 * Runs each of `count` candidates by itself, for what a first run sets up, and once more: those
 * much slower than the best so far are out. Then replays a graph of several runs a few times and
 * compares the medians. Single runs of some microseconds would be timed by what the host takes to
 * queue them. A candidate that cannot be captured is out.
 *
 * Status and sentence of the last failure if none runs. A candidate that faults ends the contest
 * with CSRCONV_EXECUTION_FAILED even if others ran: CUDA fails every call of the process then.
 */
csrconv_status csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                    struct csrconv_cuda_outcome *outcome);

#endif
