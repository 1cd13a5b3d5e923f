#include "cudnn_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More than any engine needs that is worth its time. */
static const int64_t most_workspace_bytes = INT64_C(4) << 30;

/*
 * So many of each kind of heuristics: the first ten of A are what frameworks time by themselves; B
 * predicts better for some shapes; the fallbacks run where nothing else does. What is left of
 * CSRCONV_CUDNN_MOST_PLANS is for transforms.
 */
static const struct {
    cudnnBackendHeurMode_t mode;
    int most;
} sources[] = {
    { CUDNN_HEUR_MODE_A, 12 },
    { CUDNN_HEUR_MODE_B, 6 },
    { CUDNN_HEUR_MODE_FALLBACK, 6 },
};

enum { MOST_PROPOSALS = 128 };

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

/* cuDNN tells how many values there are, also where it had room for fewer: *count is what it gave.
 */
static cudnnStatus_t get(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t most, int64_t *count,
                         void *values)
{
    cudnnStatus_t status;
    *count = 0;
    status = cudnnBackendGetAttribute(from, name, type, most, count, values);
    if (*count > most)
        *count = most;
    return status;
}

/* Adds "type=value" to the text. */
static cudnnStatus_t word_knob(cudnnBackendDescriptor_t choice, char *text, size_t bytes)
{
    const size_t length = strlen(text);
    cudnnBackendKnobType_t type;
    int64_t value, count;
    cudnnStatus_t status;
    if ((status = get(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &count,
                      &type)) ||
        (status =
             get(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &count, &value)))
        return status;
    snprintf(text + length, bytes - length, "%s%d=%" PRId64, length ? " " : "", (int)type, value);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t make_empty(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *made,
                                int64_t count)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    memset(made, 0, (size_t)count * sizeof *made);
    for (int64_t i = 0; i < count && !status; i++)
        status = cudnnBackendCreateDescriptor(type, &made[i]);
    return status;
}

static void free_all(cudnnBackendDescriptor_t *descriptors, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        csrconv_cudnn_free(descriptors[i]);
}

static cudnnStatus_t word_knobs(struct csrconv_cudnn_plan *plan)
{
    cudnnBackendDescriptor_t choices[CUDNN_KNOB_TYPE_COUNTS];
    int64_t count = 0;
    cudnnStatus_t status =
        make_empty(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, choices, CUDNN_KNOB_TYPE_COUNTS);
    if (!status)
        status = get(plan->config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                     CUDNN_KNOB_TYPE_COUNTS, &count, choices);
    for (int64_t i = 0; i < count && !status; i++)
        status = word_knob(choices[i], plan->knobs, sizeof plan->knobs);
    free_all(choices, CUDNN_KNOB_TYPE_COUNTS);
    return status;
}

static cudnnStatus_t read_engine(struct csrconv_cudnn_plan *plan)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendDescriptor_t engine;
    int64_t count = 0, ignored;
    cudnnStatus_t status = make_empty(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine, 1);
    if (!status &&
        !(status = get(plan->config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                       &ignored, &engine)) &&
        !(status = get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &ignored,
                       &plan->engine)))
        status = get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                     CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes);
    for (int64_t i = 0; i < count && !status; i++)
        plan->notes |= bit(notes[i]);
    csrconv_cudnn_free(engine);
    return status;
}

static bool is_known(const struct csrconv_cudnn_plans *plans, const struct csrconv_cudnn_plan *plan)
{
    for (int i = 0; i < plans->count; i++)
        if (plans->plan[i].engine == plan->engine && strcmp(plans->plan[i].knobs, plan->knobs) == 0)
            return true;
    return false;
}

/* Whether the list took the configuration; else it is still the caller's. */
static bool take(struct csrconv_cudnn_plans *plans, const struct csrconv_cudnn_math *math,
                 bool only_transforms, cudnnBackendDescriptor_t config)
{
    struct csrconv_cudnn_plan plan = { .config = config };
    if (read_engine(&plan) || word_knobs(&plan) || !csrconv_cudnn_allows(math, plan.notes) ||
        (only_transforms && !csrconv_cudnn_transform(plan.notes)) || is_known(plans, &plan))
        return false;
    plans->plan[plans->count++] = plan;
    return true;
}

static csrconv_status ask(const struct csrconv_cudnn_graph *graph, cudnnBackendHeurMode_t mode,
                          cudnnBackendDescriptor_t *heuristics)
{
    const struct csrconv_cudnn_attribute attributes[] = {
        { CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph->graph },
        { CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode },
    };
    return csrconv_cudnn_make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "its heuristics", attributes,
                              sizeof attributes / sizeof *attributes, heuristics);
}

/* The proposals of one kind of heuristics, at most `most` of them more. */
static csrconv_status find_in(const struct csrconv_cudnn_graph *graph, cudnnBackendHeurMode_t mode,
                              int most, const struct csrconv_cudnn_math *math,
                              struct csrconv_cudnn_plans *plans)
{
    const int full = plans->count + most;
    cudnnBackendDescriptor_t heuristics, proposals[MOST_PROPOSALS];
    int64_t count = 0;
    cudnnStatus_t failure;
    csrconv_status status = ask(graph, mode, &heuristics);
    if (status)
        return status;
    failure = make_empty(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, proposals, MOST_PROPOSALS);
    if (!failure)
        failure = get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      MOST_PROPOSALS, &count, proposals);
    status = csrconv_cudnn_check(failure, "its proposals");
    for (int64_t i = 0; i < count && plans->count < full && !status; i++)
        if (take(plans, math, false, proposals[i]))
            proposals[i] = NULL;
    free_all(proposals, MOST_PROPOSALS);
    csrconv_cudnn_free(heuristics);
    return status;
}

static bool has_engine(const struct csrconv_cudnn_plans *plans, int64_t engine)
{
    for (int i = 0; i < plans->count; i++)
        if (plans->plan[i].engine == engine)
            return true;
    return false;
}

/* Takes an engine with its knobs as they come, if it transforms. */
static void take_transform(const struct csrconv_cudnn_graph *graph, int64_t index,
                           const struct csrconv_cudnn_math *math, struct csrconv_cudnn_plans *plans)
{
    cudnnBackendDescriptor_t engine, config;
    const struct csrconv_cudnn_attribute of_engine[] = {
        { CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph->graph },
        { CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index },
    };
    const struct csrconv_cudnn_attribute of_config[] = {
        { CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine },
    };
    if (csrconv_cudnn_make(CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine", of_engine, 2, &engine))
        return;
    if (!csrconv_cudnn_make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine's knobs", of_config, 1,
                            &config) &&
        !take(plans, math, true, config))
        csrconv_cudnn_free(config);
    csrconv_cudnn_free(engine);
}

/* Winograd and FFT engines that the heuristics did not think of: the fastest in fp32 at times. */
static void find_transforms(const struct csrconv_cudnn_graph *graph,
                            const struct csrconv_cudnn_math *math,
                            struct csrconv_cudnn_plans *plans)
{
    int64_t engines = 0, count;
    if (get(graph->graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1,
            &count, &engines))
        return;
    for (int64_t i = 0; i < engines && plans->count < CSRCONV_CUDNN_MOST_PLANS; i++)
        if (!has_engine(plans, i))
            take_transform(graph, i, math, plans);
}

csrconv_status csrconv_cudnn_plans_find(const struct csrconv_cudnn_graph *graph,
                                        const struct csrconv_cudnn_math *math,
                                        struct csrconv_cudnn_plans *plans)
{
    csrconv_status failure = CSRCONV_OK;
    plans->count = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const csrconv_status status = find_in(graph, sources[i].mode, sources[i].most, math, plans);
        failure = status ? status : failure;
    }
    find_transforms(graph, math, plans);
    if (plans->count)
        return CSRCONV_OK;
    return failure ? failure
                   : csrconv_fail(CSRCONV_NOT_SUPPORTED,
                                  "cuDNN proposes nothing in this arithmetic for the problem");
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
    status = csrconv_cudnn_check(get(plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
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
