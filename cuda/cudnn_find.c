#include "cudnn_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * So many of each kind of heuristics, and behind those one plan of each engine that is not in the
 * list yet: every algorithm is timed. A ranks well: most of what it proposes is one engine with
 * knobs that it takes to be worse and worse. B predicts better for some shapes. The fallbacks are
 * engines that the two have no model for, some of them fast in float32.
 *
 * To build one of these plans takes microseconds and to time it milliseconds, but one that is
 * compiled at run time takes 0.5 to 0.8 s, many times the rest of the contest: at most one, and
 * only where the better heuristics put it among its best. cuDNN 9.19 has them as fallbacks only.
 */
struct source {
    cudnnBackendHeurMode_t mode;
    int most, most_compiled;
};

static const struct source sources[] = {
    { CUDNN_HEUR_MODE_A, 6, 1 },
    { CUDNN_HEUR_MODE_B, 3, 0 },
    { CUDNN_HEUR_MODE_FALLBACK, 0, 0 },
};

enum { MOST_PROPOSALS = 128 };

/* Adds "type=value" to the text. */
static cudnnStatus_t word_knob(cudnnBackendDescriptor_t choice, char *text, size_t bytes)
{
    const size_t length = strlen(text);
    cudnnBackendKnobType_t type;
    int64_t value, count;
    cudnnStatus_t status;
    if ((status = csrconv_cudnn_get(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                                    1, &count, &type)) ||
        (status = csrconv_cudnn_get(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                                    &count, &value)))
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
        status = csrconv_cudnn_get(plan->config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, &count,
                                   choices);
    for (int64_t i = 0; i < count && !status; i++)
        status = word_knob(choices[i], plan->knobs, sizeof plan->knobs);
    free_all(choices, CUDNN_KNOB_TYPE_COUNTS);
    return status;
}

static cudnnStatus_t read_numerics(cudnnBackendDescriptor_t engine, struct csrconv_cudnn_plan *plan)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count;
    const cudnnStatus_t status =
        csrconv_cudnn_get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                          CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes);
    for (int64_t i = 0; i < count && !status; i++)
        plan->notes |= 1U << notes[i];
    return status;
}

static cudnnStatus_t read_behavior(cudnnBackendDescriptor_t engine, struct csrconv_cudnn_plan *plan)
{
    cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t count;
    const cudnnStatus_t status =
        csrconv_cudnn_get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                          CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &count, notes);
    for (int64_t i = 0; i < count && !status; i++)
        if (notes[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
            plan->is_compiled = true;
    return status;
}

static cudnnStatus_t read_engine(struct csrconv_cudnn_plan *plan)
{
    cudnnBackendDescriptor_t engine;
    int64_t ignored;
    cudnnStatus_t status = make_empty(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine, 1);
    if (!status &&
        !(status = csrconv_cudnn_get(plan->config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &ignored, &engine)) &&
        !(status = csrconv_cudnn_get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                                     &ignored, &plan->engine)) &&
        !(status = read_numerics(engine, plan)))
        status = read_behavior(engine, plan);
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

static bool has_engine(const struct csrconv_cudnn_plans *plans, int64_t engine)
{
    for (int i = 0; i < plans->count; i++)
        if (plans->plan[i].engine == engine)
            return true;
    return false;
}

static int count_compiled(const struct csrconv_cudnn_plans *plans)
{
    int count = 0;
    for (int i = 0; i < plans->count; i++)
        count += plans->plan[i].is_compiled;
    return count;
}

/* What is taken of what is there. */
struct choice {
    const struct csrconv_cudnn_math *math;
    bool only_transforms, only_new_engines;
    int most_compiled; /* in the list */
};

/* Whether the list took the configuration; else it is still the caller's. */
static bool take(struct csrconv_cudnn_plans *plans, const struct choice *choice,
                 cudnnBackendDescriptor_t config)
{
    struct csrconv_cudnn_plan plan = { .config = config };
    if (read_engine(&plan) || word_knobs(&plan) || !csrconv_cudnn_allows(choice->math, plan.notes))
        return false;
    if (choice->only_transforms && !csrconv_cudnn_transform(plan.notes))
        return false;
    if (choice->only_new_engines && has_engine(plans, plan.engine))
        return false;
    if (plan.is_compiled && count_compiled(plans) >= choice->most_compiled)
        return false;
    if (is_known(plans, &plan))
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

/* The proposals of one kind of heuristics: its best, and one of each other engine. */
static csrconv_status find_in(const struct csrconv_cudnn_graph *graph, const struct source *source,
                              const struct csrconv_cudnn_math *math,
                              struct csrconv_cudnn_plans *plans)
{
    const int full = plans->count + source->most;
    struct choice choice = { .math = math };
    cudnnBackendDescriptor_t heuristics, proposals[MOST_PROPOSALS];
    int64_t count = 0;
    cudnnStatus_t failure;
    csrconv_status status = ask(graph, source->mode, &heuristics);
    if (status)
        return status;
    choice.most_compiled = graph->has_vectors ? source->most_compiled : 0;
    failure = make_empty(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, proposals, MOST_PROPOSALS);
    if (!failure)
        failure =
            csrconv_cudnn_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_PROPOSALS, &count, proposals);
    status = csrconv_cudnn_check(failure, "its proposals");
    for (int64_t i = 0; i < count && !status; i++) {
        if (plans->count == CSRCONV_CUDNN_MOST_PLANS)
            break;
        choice.only_new_engines = plans->count >= full;
        if (take(plans, &choice, proposals[i]))
            proposals[i] = NULL;
    }
    free_all(proposals, MOST_PROPOSALS);
    csrconv_cudnn_free(heuristics);
    return status;
}

/* Takes an engine with its knobs as they come, if it transforms. */
static void take_transform(const struct csrconv_cudnn_graph *graph, int64_t index,
                           const struct csrconv_cudnn_math *math, struct csrconv_cudnn_plans *plans)
{
    const struct choice choice = { .math = math, .only_transforms = true };
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
        !take(plans, &choice, config))
        csrconv_cudnn_free(config);
    csrconv_cudnn_free(engine);
}

/* Winograd and FFT engines that the heuristics did not think of: the fastest in fp32 at times. */
static void find_transforms(const struct csrconv_cudnn_graph *graph,
                            const struct csrconv_cudnn_math *math,
                            struct csrconv_cudnn_plans *plans)
{
    int64_t engines = 0, count;
    if (csrconv_cudnn_get(graph->graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                          CUDNN_TYPE_INT64, 1, &count, &engines))
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
        const csrconv_status status = find_in(graph, &sources[i], math, plans);
        failure = status ? status : failure;
    }
    find_transforms(graph, math, plans);
    if (plans->count)
        return CSRCONV_OK;
    return failure ? failure
                   : csrconv_fail(CSRCONV_NOT_SUPPORTED,
                                  "cuDNN proposes nothing in this arithmetic for the problem");
}
