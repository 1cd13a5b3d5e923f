#include "buffers.h"
#include "device.h"
#include "status.h"

#include <inttypes.h>

csrconv_status csrconv_execute(const csrconv_plan *plan, int64_t n, const float *in, float *out,
                               void *workspace, size_t workspace_bytes, void *stream)
{
    return csrconv_execute_residual(plan, n, in, NULL, out, workspace, workspace_bytes, stream);
}

static csrconv_status check_call(const csrconv_plan *plan, int64_t n, const void *stream)
{
    const int64_t batch = plan->problem.shape.g.batch;
    if (n < 0 || n > batch)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT,
                            "n is %" PRId64 ", must be in [0, %" PRId64 "], the plan's batch", n,
                            batch);
    if (stream && plan->problem.device == CSRCONV_DEVICE_CPU)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "stream must be NULL for a CPU plan");
    return CSRCONV_OK;
}

typedef csrconv_status (*algorithm_step)(const void *state, const struct csrconv_run *run);

/* One of the algorithm's steps, with the plan's device current. */
static csrconv_status call_step(const struct csrconv_plan *plan, algorithm_step step,
                                const struct csrconv_run *run)
{
    int previous;
    csrconv_status status = csrconv_device_enter(&plan->problem, &previous);
    if (status)
        return status;
    status = step(plan->prepared.state, run);
    csrconv_device_leave(&plan->problem, previous);
    return status;
}

csrconv_status csrconv_execute_residual(const csrconv_plan *plan, int64_t n, const float *in,
                                        const float *residual, float *out, void *workspace,
                                        size_t workspace_bytes, void *stream)
{
    struct csrconv_run run;
    csrconv_status status;
    if (!plan)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "plan is NULL");
    status = check_call(plan, n, stream);
    if (status || n == 0)
        return status;
    run = (struct csrconv_run){ .shape = &plan->problem.shape,
                                .epilogue = &plan->problem.epilogue,
                                .team = &plan->problem.team,
                                .n = n,
                                .in = in,
                                .residual = residual,
                                .out = out,
                                .workspace = workspace,
                                .stream = stream };
    status = csrconv_check_buffers(plan, &run, workspace_bytes);
    return status ? status : call_step(plan, plan->algorithm->execute, &run);
}

/* The whole batch, for the parts of an execute that are timed apart. */
static struct csrconv_run batch_run(const struct csrconv_plan *plan, const float *in,
                                    void *workspace, void *stream)
{
    return (struct csrconv_run){ .shape = &plan->problem.shape,
                                 .epilogue = &plan->problem.epilogue,
                                 .team = &plan->problem.team,
                                 .n = plan->problem.shape.g.batch,
                                 .in = in,
                                 .workspace = workspace,
                                 .stream = stream };
}

csrconv_status csrconv_plan_lay_out(const struct csrconv_plan *plan, const float *in,
                                    void *workspace, void *stream)
{
    const struct csrconv_run run = batch_run(plan, in, workspace, stream);
    if (!plan->algorithm->lay_out || plan->prepared.is_in_place)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED, "%s has no pass over the activations here",
                            plan->algorithm->info.name);
    return call_step(plan, plan->algorithm->lay_out, &run);
}

int csrconv_plan_has_compute(const struct csrconv_plan *plan)
{
    return plan->algorithm->compute != NULL;
}

bool csrconv_plan_is_mixing(const struct csrconv_plan *plan)
{
    return plan->prepared.is_mixing;
}

csrconv_status csrconv_plan_compute(const struct csrconv_plan *plan, void *workspace, void *stream)
{
    const struct csrconv_run run = batch_run(plan, NULL, workspace, stream);
    return call_step(plan, plan->algorithm->compute, &run);
}
