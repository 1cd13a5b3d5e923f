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
