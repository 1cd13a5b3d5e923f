/*
 * Which of several ways is the fastest on this GPU, found by running them: for peers whose
 * libraries leave that choice to their users. At plan time only.
 */
#ifndef CSRCONV_CUDA_CONTEST_H
#define CSRCONV_CUDA_CONTEST_H

#include "runtime.h"

/*
 * Queues one run of a candidate on the stream, which may be captured; a failure takes it out of the
 * contest.
 */
typedef csrconv_status (*csrconv_cuda_attempt)(void *context, int candidate, cudaStream_t stream);

/*
 * Runs each of `count` candidates by itself, for what a first run sets up; then replays a graph of
 * several runs a few times and compares the medians. Single runs of some microseconds would be
 * timed by what the host takes to queue them. A candidate that cannot be captured is out. *best is
 * the index of the fastest, *best_us the median of its runs; the last failure if none runs.
 */
csrconv_status csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                    int *best, double *best_us);

#endif
