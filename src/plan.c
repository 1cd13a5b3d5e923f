#include "plan.h"

#include "device.h"
#include "saved_choice.h"
#include "status.h"
#include "tune.h"

#include <stddef.h>
#include <string.h>

/*
 * The caller's options as those of this version, with the defaults of what they do not have: 0.1.0
 * began with all members before `tune`. given may be NULL.
 */
static csrconv_status read_options(const csrconv_plan_options *given, csrconv_plan_options *options)
{
    const size_t first = offsetof(csrconv_plan_options, tune);
    csrconv_status status;
    csrconv_plan_options_init(options);
    if (!given)
        return CSRCONV_OK;
    status = csrconv_check_struct("csrconv_plan_options", given->struct_size, sizeof *options);
    if (status && given->struct_size != first)
        return status;
    memcpy(options, given, given->struct_size);
    return CSRCONV_OK;
}

static csrconv_status check_epilogue(const csrconv_epilogue *e)
{
    if (e->activation < CSRCONV_ACTIVATION_NONE || e->activation > CSRCONV_ACTIVATION_CLAMP)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "activation is %d", (int)e->activation);
    if (e->activation == CSRCONV_ACTIVATION_CLAMP && !(e->lo <= e->hi))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "clamp to [%g, %g] is empty", (double)e->lo,
                            (double)e->hi);
    if (e->residual != 0 && e->residual != 1)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "residual is %d, must be 0 or 1", e->residual);
    return CSRCONV_OK;
}

static const char *name_of(const csrconv_plan_options *options)
{
    return options->algorithm ? options->algorithm : "auto";
}

static csrconv_status check_name(const csrconv_plan_options *options)
{
    const char *name = name_of(options);
    if (options->tune != 0 && options->tune != 1)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "tune is %d, must be 0 or 1", options->tune);
    if (csrconv_is_wildcard(name))
        return CSRCONV_OK;
    if (!csrconv_find_algorithm(name, options->peers))
        return csrconv_fail(CSRCONV_UNKNOWN_ALGORITHM, "there is no algorithm \"%s\"", name);
    if (options->choice)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT,
                            "a saved choice and the algorithm %s: one of them can be taken", name);
    return CSRCONV_OK;
}

/* An algorithm that is named settles a device left open. */
static csrconv_status resolve_device(const csrconv_plan_options *options,
                                     struct csrconv_problem *problem)
{
    const struct csrconv_algorithm *named =
        csrconv_find_algorithm(name_of(options), options->peers);
    problem->device = options->device;
    problem->ordinal = options->ordinal;
    if (options->device == CSRCONV_DEVICE_AUTO && named)
        problem->device = named->info.device;
    return csrconv_device_resolve(&problem->device, problem->ordinal);
}

static csrconv_status fill_problem(struct csrconv_problem *problem, const csrconv_weights *weights,
                                   const csrconv_geometry *geometry,
                                   const csrconv_plan_options *options)
{
    csrconv_status status;
    if (!weights)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "weights is NULL");
    problem->weights = weights;
    problem->epilogue = options->epilogue;
    if ((status = check_epilogue(&problem->epilogue)) ||
        (status = csrconv_shape_init(&problem->shape, geometry)) ||
        (status = csrconv_check_weights(weights, &problem->shape)) ||
        (status = check_name(options)) || (status = resolve_device(options, problem)))
        return status;
    return csrconv_team_init(&problem->team, options->threads, options->parallel);
}

static csrconv_status copy_bias(struct csrconv_plan *plan)
{
    const int64_t filters = plan->problem.shape.g.filters;
    csrconv_status status;
    if (!plan->problem.epilogue.bias)
        return CSRCONV_OK;
    status = csrconv_allocate(&plan->memory, filters, sizeof *plan->bias, (void **)&plan->bias);
    if (status)
        return status;
    memcpy(plan->bias, plan->problem.epilogue.bias, (size_t)filters * sizeof *plan->bias);
    plan->problem.epilogue.bias = plan->bias;
    return CSRCONV_OK;
}

/* What is to be taken: a saved choice has the name, which is copied into `saved`. */
static csrconv_status read_wish(const struct csrconv_plan *plan,
                                const csrconv_plan_options *options,
                                char saved[CSRCONV_CHOICE_BYTES], struct csrconv_wish *wish)
{
    csrconv_status status;
    *wish = (struct csrconv_wish){ name_of(options), options->choice != NULL };
    if (!wish->is_saved)
        return CSRCONV_OK;
    wish->name = saved;
    status = csrconv_choice_read(options->choice, &plan->problem, plan->pattern, saved);
    if (!status && !csrconv_find_algorithm(saved, options->peers))
        return csrconv_fail(CSRCONV_UNKNOWN_ALGORITHM,
                            "the saved choice is the algorithm \"%s\", which is not there", saved);
    return status;
}

static csrconv_status choose_and_prepare(struct csrconv_plan *plan,
                                         const csrconv_plan_options *options)
{
    char saved[CSRCONV_CHOICE_BYTES];
    struct csrconv_wish wish;
    csrconv_status status;
    bool is_tuned;
    plan->nonzeros = csrconv_nonzeros(plan->problem.weights);
    plan->pattern = csrconv_pattern_digest(plan->problem.weights);
    if ((status = read_wish(plan, options, saved, &wish)) ||
        (status = csrconv_consider(&plan->problem, options->peers, &plan->memory, &plan->choice)))
        return status;
    is_tuned = options->tune && csrconv_is_wildcard(wish.name);
    if ((is_tuned &&
         (status = csrconv_tune(&plan->problem, wish.name, &plan->choice, &plan->prepared))) ||
        (status = csrconv_choose(&plan->choice, &wish)))
        return status;
    plan->algorithm = plan->choice.considered[plan->choice.chosen].algorithm;
    plan->dense_estimate_us = csrconv_dense_us(&plan->problem);
    return is_tuned ? CSRCONV_OK
                    : plan->algorithm->prepare(plan->algorithm, &plan->problem, &plan->prepared);
}

static csrconv_status prepare(struct csrconv_plan *plan, const csrconv_plan_options *options)
{
    int previous;
    csrconv_status status = copy_bias(plan);
    if (status || (status = csrconv_device_enter(&plan->problem, &previous)))
        return status;
    status = choose_and_prepare(plan, options);
    plan->problem.weights = NULL;
    csrconv_device_leave(&plan->problem, previous);
    return status;
}

csrconv_status csrconv_plan_create(const csrconv_weights *weights, const csrconv_geometry *geometry,
                                   const csrconv_plan_options *given, csrconv_plan **out)
{
    csrconv_plan_options options;
    struct csrconv_problem problem = { 0 };
    struct csrconv_memory memory;
    csrconv_status status;
    if (!out)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "out is NULL");
    *out = NULL;
    if ((status = read_options(given, &options)) ||
        (status = fill_problem(&problem, weights, geometry, &options)) ||
        (status = csrconv_memory_init(&memory, options.allocator)) ||
        (status = csrconv_allocate(&memory, 1, sizeof **out, (void **)out)))
        return status;
    memset(*out, 0, sizeof **out);
    (*out)->memory = memory;
    (*out)->problem = problem;
    (*out)->prepared.memory = memory;
    (*out)->prepared.memory.bytes = 0;
    status = prepare(*out, &options);
    if (status)
        csrconv_plan_destroy(out);
    return status;
}

static void release_state(struct csrconv_plan *plan)
{
    int previous;
    const csrconv_status status = csrconv_device_enter(&plan->problem, &previous);
    plan->algorithm->destroy(&plan->prepared.memory, plan->prepared.state);
    if (!status)
        csrconv_device_leave(&plan->problem, previous);
}

void csrconv_plan_destroy(csrconv_plan **plan)
{
    struct csrconv_plan *p = plan ? *plan : NULL;
    struct csrconv_memory memory;
    if (!p)
        return;
    memory = p->memory;
    if (p->algorithm)
        release_state(p);
    csrconv_release(&memory, p->choice.considered);
    csrconv_release(&memory, p->bias);
    csrconv_release(&memory, p);
    *plan = NULL;
}

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
        .estimate_us = plan->choice.considered[plan->choice.chosen].estimate_us,
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
    candidate->estimate_us = entry->estimate_us;
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
