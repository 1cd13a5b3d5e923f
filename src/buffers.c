#include "buffers.h"

#include "status.h"

#include <inttypes.h>
#include <stdbool.h>

/* n blocks of `bytes`, `stride` bytes apart. */
struct blocks {
    const char *name;
    uintptr_t first;
    uintptr_t bytes;
    uintptr_t stride;
    int64_t n;
};

static struct blocks images(const char *name, const float *first, int64_t image, int64_t stride,
                            int64_t n)
{
    return (struct blocks){ name, (uintptr_t)first, (uintptr_t)image * sizeof(float),
                            (uintptr_t)stride * sizeof(float), n };
}

static uintptr_t end_of(const struct blocks *b)
{
    return b->first + (uintptr_t)(b->n - 1) * b->stride + b->bytes;
}

/*
 * Whether any block of a meets any of b. Ranges that interleave without touching are fine: that is
 * a concatenation in place. Both lists ascend, so one pass over them is enough.
 */
static bool overlap(const struct blocks *a, const struct blocks *b)
{
    int64_t i = 0, j = 0;
    if (end_of(a) <= b->first || end_of(b) <= a->first)
        return false;
    while (i < a->n && j < b->n) {
        const uintptr_t at = a->first + (uintptr_t)i * a->stride;
        const uintptr_t bt = b->first + (uintptr_t)j * b->stride;
        if (at + a->bytes <= bt)
            i++;
        else if (bt + b->bytes <= at)
            j++;
        else
            return true;
    }
    return false;
}

static csrconv_status check_overlap(const struct blocks *a, const struct blocks *b)
{
    if (a->first && b->first && a->bytes && b->bytes && overlap(a, b))
        return csrconv_fail(CSRCONV_BAD_BUFFER, "%s and %s overlap", a->name, b->name);
    return CSRCONV_OK;
}

static csrconv_status check_tensor(const struct blocks *tensor)
{
    if (!tensor->first)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "%s is NULL", tensor->name);
    if (tensor->first % sizeof(float))
        return csrconv_fail(CSRCONV_BAD_BUFFER, "%s is at 0x%" PRIxPTR ", not 4-byte aligned",
                            tensor->name, tensor->first);
    return CSRCONV_OK;
}

static csrconv_status check_workspace(const struct csrconv_plan *plan, const void *workspace,
                                      size_t bytes)
{
    const size_t needed = plan->prepared.workspace_bytes;
    const uintptr_t alignment = plan->problem.device == CSRCONV_DEVICE_CUDA ? 256 : 64;
    if (!needed)
        return CSRCONV_OK;
    if (bytes < needed)
        return csrconv_fail(CSRCONV_BAD_BUFFER, "workspace_bytes is %zu, the plan needs %zu", bytes,
                            needed);
    if (!workspace)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "workspace is NULL, the plan needs %zu bytes",
                            needed);
    if ((uintptr_t)workspace % alignment)
        return csrconv_fail(CSRCONV_BAD_BUFFER,
                            "workspace is at 0x%" PRIxPTR ", not %" PRIuPTR "-byte aligned",
                            (uintptr_t)workspace, alignment);
    return CSRCONV_OK;
}

static csrconv_status check_residual(const struct csrconv_plan *plan, const float *residual)
{
    if (plan->problem.epilogue.residual && !residual)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "the plan has a residual, and residual is NULL: "
                                                  "call csrconv_execute_residual");
    if (!plan->problem.epilogue.residual && residual)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "the plan was made without a residual");
    return CSRCONV_OK;
}

csrconv_status csrconv_check_buffers(const struct csrconv_plan *plan, const struct csrconv_run *run,
                                     size_t workspace_bytes)
{
    const struct csrconv_shape *s = run->shape;
    const struct blocks in = images("in", run->in, s->in_image, s->g.in_batch_stride, run->n);
    const struct blocks out = images("out", run->out, s->out_image, s->g.out_batch_stride, run->n);
    const struct blocks residual =
        images("residual", run->residual, s->out_image, s->g.out_batch_stride, run->n);
    const struct blocks workspace = { "workspace", (uintptr_t)run->workspace,
                                      plan->prepared.workspace_bytes, 0, 1 };
    csrconv_status status;
    if ((status = check_tensor(&in)) || (status = check_tensor(&out)) ||
        (status = check_residual(plan, run->residual)) ||
        (run->residual && (status = check_tensor(&residual))) ||
        (status = check_workspace(plan, run->workspace, workspace_bytes)) ||
        (status = check_overlap(&in, &out)) || (status = check_overlap(&residual, &out)) ||
        (status = check_overlap(&workspace, &out)) || (status = check_overlap(&workspace, &in)))
        return status;
    return check_overlap(&workspace, &residual);
}
