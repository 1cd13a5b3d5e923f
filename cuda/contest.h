/*
 * Which of several ways is the fastest on this GPU, found by running them: for peers whose
 * libraries leave that choice to their users. At plan time only.
 */
#ifndef CSRCONV_CUDA_CONTEST_H
#define CSRCONV_CUDA_CONTEST_H

#include "runtime.h"

/* Queues one run of a candidate on the stream; a failure takes it out of the contest. */
typedef csrconv_status (*csrconv_cuda_attempt)(void *context, int candidate, cudaStream_t stream);

/*
 * Runs each of `count` candidates a few times, one warm-up before, and compares the medians.
 * Returns the index of the fastest, or -1 with the sentence of the last failure if none runs.
 * times_us, if not NULL, gets count medians, 0 where a candidate failed.
 */
int csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context, double *times_us);

#endif
