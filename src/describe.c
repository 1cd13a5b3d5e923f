/* What algorithms, plans and their candidates tell of themselves. */
#include "device.h"
#include "plan.h"
#include "saved_choice.h"
#include "status.h"

#include <string.h>

const csrconv_algorithm *const *csrconv_algorithms(void)
{
    return csrconv_algorithm_table;
}

csrconv_status csrconv_algorithm_describe(const csrconv_algorithm *algorithm,
                                          csrconv_algorithm_info *info)
{
    csrconv_status status;
    if (!algorithm || !info)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", algorithm ? "info" : "algorithm");
    status = csrconv_check_struct("csrconv_algorithm_info", info->struct_size, sizeof *info);
    if (status)
        return status;
    *info = algorithm->info;
    info->struct_size = sizeof *info;
    info->version = algorithm->version ? algorithm->version() : "";
    return CSRCONV_OK;
}

static size_t blob_bytes(const struct csrconv_plan *plan)
{
    return csrconv_blob_size(plan->algorithm->contents(plan->prepared.state, NULL));
}

csrconv_status csrconv_plan_blob(const csrconv_plan *plan, void *blob, size_t size)
{
    if (!plan || !blob)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", plan ? "blob" : "plan");
    if (!plan->algorithm->target)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED, "%s compiles nothing that could be kept",
                            plan->algorithm->info.name);
    if (size != blob_bytes(plan))
        return csrconv_fail(CSRCONV_BAD_BUFFER, "blob_bytes is %zu, the blob has %zu", size,
                            blob_bytes(plan));
    plan->algorithm->contents(plan->prepared.state, csrconv_blob_contents(blob));
    csrconv_blob_seal(&plan->identity, blob, size);
    return CSRCONV_OK;
}

csrconv_status csrconv_plan_describe(const csrconv_plan *plan, csrconv_plan_info *info)
{
    csrconv_status status;
    if (!plan || !info)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", plan ? "info" : "plan");
    status = csrconv_check_struct("csrconv_plan_info", info->struct_size, sizeof *info);
    if (status)
        return status;
    *info = (csrconv_plan_info){
        .struct_size = sizeof *info,
        .algorithm = plan->algorithm,
        .reason = plan->choice.reason,
        .detail = plan->prepared.detail,
        .variant = plan->prepared.variant,
        .device = plan->problem.device,
        .ordinal = plan->problem.ordinal,
        .threads = plan->problem.device == CSRCONV_DEVICE_CPU ? plan->problem.team.threads : 0,
        .out_height = plan->problem.shape.out_h,
        .out_width = plan->problem.shape.out_w,
        .nonzeros = plan->nonzeros,
        .workspace_bytes = plan->prepared.workspace_bytes,
        .plan_bytes = plan->memory.bytes + plan->prepared.memory.bytes,
        .blob_bytes = plan->algorithm->target ? blob_bytes(plan) : 0,
        .plan_us = plan->plan_us,
        .estimate_us = plan->choice.considered[plan->choice.chosen].estimate.us,
        .dense_estimate_us = plan->dense_estimate_us,
        .candidates = plan->choice.count,
    };
    return CSRCONV_OK;
}

csrconv_status csrconv_plan_candidate(const csrconv_plan *plan, int index,
                                      csrconv_candidate *candidate)
{
    const struct csrconv_considered *entry;
    csrconv_status status;
    if (!plan || !candidate)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", plan ? "candidate" : "plan");
    status = csrconv_check_struct("csrconv_candidate", candidate->struct_size, sizeof *candidate);
    if (status)
        return status;
    if (index < 0 || index >= plan->choice.count)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "candidate %d of %d", index, plan->choice.count);
    entry = &plan->choice.considered[index];
    candidate->algorithm = entry->algorithm;
    candidate->status = entry->status;
    candidate->reason = entry->reason;
    candidate->estimate_us = entry->estimate.us;
    return CSRCONV_OK;
}

csrconv_status csrconv_plan_choice(const csrconv_plan *plan, char *text, size_t bytes)
{
    char whole[CSRCONV_CHOICE_BYTES];
    int previous;
    csrconv_status status;
    if (!plan || !text)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", plan ? "text" : "plan");
    if ((status = csrconv_device_enter(&plan->problem, &previous)))
        return status;
    status = csrconv_choice_write(&plan->problem, plan->pattern, plan->algorithm->info.name, whole);
    csrconv_device_leave(&plan->problem, previous);
    if (status)
        return status;
    if (strlen(whole) >= bytes)
        return csrconv_fail(CSRCONV_BAD_BUFFER, "text has %zu bytes, the choice needs %zu", bytes,
                            strlen(whole) + 1);
    memcpy(text, whole, strlen(whole) + 1);
    return CSRCONV_OK;
}
