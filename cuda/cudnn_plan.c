#include "cudnn_plan.h"

#include <inttypes.h>
#include <string.h>

/* More than any engine needs that is worth its time. */
static const int64_t most_workspace_bytes = INT64_C(4) << 30;

static unsigned bit(cudnnBackendNumericalNote_t note)
{
    return 1U << note;
}

bool csrconv_cudnn_allows(const struct csrconv_cudnn_math *math, unsigned notes)
{
    unsigned forbidden = bit(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
    if (!math->is_half)
        forbidden |= bit(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
    if (!math->is_tensor_core)
        forbidden |= bit(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    return !(notes & forbidden);
}

const char *csrconv_cudnn_transform(unsigned notes)
{
    const unsigned winograd =
        bit(CUDNN_NUMERICAL_NOTE_WINOGRAD) | bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) |
        bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) | bit(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
    if (notes & winograd)
        return "Winograd";
    return notes & bit(CUDNN_NUMERICAL_NOTE_FFT) ? "FFT" : NULL;
}

void csrconv_cudnn_plan_free(struct csrconv_cudnn_plan *plan)
{
    csrconv_cudnn_free(plan->plan);
    csrconv_cudnn_free(plan->config);
    memset(plan, 0, sizeof *plan);
}

void csrconv_cudnn_plans_free(struct csrconv_cudnn_plans *plans)
{
    for (int i = 0; i < plans->count; i++)
        csrconv_cudnn_plan_free(&plans->plan[i]);
    plans->count = 0;
}

static csrconv_status build(cudnnHandle_t handle, struct csrconv_cudnn_plan *plan)
{
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle },
        { CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &plan->config },
    };
    int64_t count;
    csrconv_status status =
        csrconv_cudnn_make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan", attributes,
                           sizeof attributes / sizeof *attributes, &plan->plan);
    if (status)
        return status;
    status =
        csrconv_cudnn_check(csrconv_cudnn_get(plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                              CUDNN_TYPE_INT64, 1, &count, &plan->workspace_bytes),
                            "a plan's workspace");
    if (!status && plan->workspace_bytes > most_workspace_bytes)
        return csrconv_fail(CSRCONV_NOT_SUPPORTED,
                            "cuDNN's engine %" PRId64 " asks for a workspace of %" PRId64 " bytes",
                            plan->engine, plan->workspace_bytes);
    return status;
}

csrconv_status csrconv_cudnn_plans_build(cudnnHandle_t handle, struct csrconv_cudnn_plans *plans)
{
    csrconv_status status = CSRCONV_OK;
    int built = 0;
    for (int i = 0; i < plans->count; i++) {
        const csrconv_status failure = build(handle, &plans->plan[i]);
        if (failure) {
            status = failure;
            csrconv_cudnn_plan_free(&plans->plan[i]);
        } else {
            plans->plan[built++] = plans->plan[i];
        }
    }
    plans->count = built;
    return built ? CSRCONV_OK : status;
}

csrconv_status csrconv_cudnn_plan_run(cudnnHandle_t handle, const struct csrconv_cudnn_plan *plan,
                                      const struct csrconv_cudnn_buffers *buffers,
                                      cudaStream_t stream)
{
    static const int64_t names[] = { CSRCONV_CUDNN_IN, CSRCONV_CUDNN_WEIGHTS, CSRCONV_CUDNN_OUT };
    const void *const tensors[] = { buffers->in, buffers->weights, buffers->out };
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, names },
        { CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, tensors },
        { CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &buffers->workspace },
    };
    cudnnBackendDescriptor_t pack;
    csrconv_status status;
    if ((status = csrconv_cudnn_check(cudnnSetStream(handle, stream), "the stream")) ||
        (status = csrconv_cudnn_make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the tensors",
                                     attributes, sizeof attributes / sizeof *attributes, &pack)))
        return status;
    status = csrconv_cudnn_check(cudnnBackendExecute(handle, plan->plan, pack), "execute");
    csrconv_cudnn_free(pack);
    return status;
}
