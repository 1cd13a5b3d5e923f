/* Stands in for cuda/backend.c in a build without CUDA: no plan for a GPU gets beyond `usable`. */
#include "backend.h"
#include "status.h"

csrconv_status csrconv_cuda_usable(int ordinal)
{
    return csrconv_fail(CSRCONV_NOT_BUILT, "cuda:%d: this build of csrconv has no CUDA backend",
                        ordinal);
}

csrconv_status csrconv_cuda_enter(int ordinal, int *previous)
{
    *previous = ordinal;
    return csrconv_cuda_usable(ordinal);
}

void csrconv_cuda_leave(int previous)
{
    (void)previous;
}

double csrconv_cuda_dense_us(const struct csrconv_problem *problem)
{
    (void)problem;
    return 0.0;
}

csrconv_status csrconv_cuda_model(char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
    return csrconv_cuda_usable(0);
}

csrconv_status csrconv_cuda_take(struct csrconv_memory *memory, int64_t floats, const float *from,
                                 void **out)
{
    (void)memory;
    (void)floats;
    (void)from;
    *out = NULL;
    return csrconv_cuda_usable(0);
}

void csrconv_cuda_give_back(void *block)
{
    (void)block;
}

csrconv_status csrconv_cuda_time(csrconv_queue_run *queue, void *context, double *us)
{
    (void)queue;
    (void)context;
    *us = 0.0;
    return csrconv_cuda_usable(0);
}
