/*
 * A contest of cuDNN's plans for a GPU that is only described. What needs a GPU goes through this
 * file, by the linker's --wrap: the contest has the outcome that a test wants.
 */
#include "cudnn_fixture.h"

#include "contest.h"
#include "cudnn_contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct csrconv_cuda_outcome outcome;
static csrconv_status contest_status;

csrconv_status __wrap_csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                           struct csrconv_cuda_outcome *out);
csrconv_status __wrap_csrconv_cuda_allocate(struct csrconv_memory *memory, int64_t count,
                                            size_t size, void **out);
void __wrap_csrconv_cuda_free(void *device);
csrconv_status __wrap_csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                             const struct csrconv_cuda_images *images,
                                             const float *from, void *to, void *stream);
cudaError_t __wrap_cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);

/* If all are to fail, as many as there are. */
csrconv_status __wrap_csrconv_cuda_contest(int count, csrconv_cuda_attempt attempt, void *context,
                                           struct csrconv_cuda_outcome *out)
{
    (void)attempt;
    (void)context;
    *out = outcome;
    if (outcome.failures > 1)
        out->failures = count;
    return contest_status ? csrconv_fail(contest_status, "the reason") : CSRCONV_OK;
}

csrconv_status __wrap_csrconv_cuda_allocate(struct csrconv_memory *memory, int64_t count,
                                            size_t size, void **out)
{
    (void)memory;
    (void)count;
    *out = malloc(size);
    return *out ? CSRCONV_OK : CSRCONV_OUT_OF_MEMORY;
}

void __wrap_csrconv_cuda_free(void *device)
{
    free(device);
}

csrconv_status __wrap_csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                             const struct csrconv_cuda_images *images,
                                             const float *from, void *to, void *stream)
{
    (void)format;
    (void)images;
    (void)from;
    (void)to;
    (void)stream;
    return CSRCONV_OK;
}

cudaError_t __wrap_cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    (void)to;
    (void)value;
    (void)bytes;
    (void)stream;
    return cudaSuccess;
}

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = NULL;
    return cudaSuccess;
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

static csrconv_status hold(struct csrconv_cudnn_winner *winner)
{
    static const struct csrconv_cudnn_math math = { .is_half = true, .is_tensor_core = true };
    const csrconv_geometry geometry = geometry_of(64, 14, 14, 96, 3, 3);
    struct csrconv_problem problem = { .weights = NULL };
    if (!described_gpu)
        skip();
    assert_ok(csrconv_shape_init(&problem.shape, &geometry));
    return csrconv_cudnn_contest(NULL, &problem, &math, NULL, true, winner);
}

static void the_best_plan_is_kept(void **state)
{
    struct csrconv_cudnn_winner winner;
    (void)state;
    outcome = (struct csrconv_cuda_outcome){ .best = 1, .us = 12.5, .culprit = -1 };
    contest_status = CSRCONV_OK;
    assert_ok(hold(&winner));
    assert_non_null(winner.plan.plan);
    assert_true(winner.us == 12.5);
    assert_in_range(winner.rivals, 2, CSRCONV_CUDNN_MOST_PLANS);
    csrconv_cudnn_winner_free(&winner);
}

static void an_engine_that_faults_is_named(void **state)
{
    struct csrconv_cudnn_winner winner;
    (void)state;
    outcome = (struct csrconv_cuda_outcome){ .best = 0, .failures = 1, .culprit = 1 };
    contest_status = CSRCONV_EXECUTION_FAILED;
    assert_fails(hold(&winner), CSRCONV_EXECUTION_FAILED, "cuDNN's engine ");
    assert_non_null(strstr(csrconv_last_error(), "(NHWC float16, knobs: "));
    assert_non_null(strstr(csrconv_last_error(), "faults: the reason"));
    csrconv_cudnn_winner_free(&winner);
}

static void plans_that_only_do_not_run_are_not_supported(void **state)
{
    struct csrconv_cudnn_winner winner;
    (void)state;
    outcome = (struct csrconv_cuda_outcome){ .best = -1, .failures = 2, .culprit = -1 };
    contest_status = CSRCONV_EXECUTION_FAILED;
    assert_fails(hold(&winner), CSRCONV_NOT_SUPPORTED, "of cuDNN runs: the reason");
    csrconv_cudnn_winner_free(&winner);
}

static void a_contest_that_cannot_begin_fails(void **state)
{
    struct csrconv_cudnn_winner winner;
    (void)state;
    outcome = (struct csrconv_cuda_outcome){ .best = -1, .culprit = -1 };
    contest_status = CSRCONV_EXECUTION_FAILED;
    assert_fails(hold(&winner), CSRCONV_EXECUTION_FAILED, "the reason");
    csrconv_cudnn_winner_free(&winner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_plan_is_kept),
        cmocka_unit_test(an_engine_that_faults_is_named),
        cmocka_unit_test(plans_that_only_do_not_run_are_not_supported),
        cmocka_unit_test(a_contest_that_cannot_begin_fails),
    };
    int failed;
    if (!describe_gpu())
        printf("contests are not tested: %s\n", csrconv_last_error());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    csrconv_cudnn_free(described_gpu);
    return failed;
}
