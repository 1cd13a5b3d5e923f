#include "plan.h"

#include "clock.h"
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
    if (options->compile < CSRCONV_COMPILE_AUTO || options->compile > CSRCONV_COMPILE_NEVER)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "compile is %d", (int)options->compile);
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

/* Opens the options' blob, if there is one: the name that it asks for takes the place of theirs. */
static csrconv_status open_blob(csrconv_plan_options *options, struct csrconv_blob *blob)
{
    const char *const name = name_of(options);
    const struct csrconv_algorithm *algorithm;
    csrconv_status status;
    memset(blob, 0, sizeof *blob);
    if (!options->blob)
        return options->blob_bytes
                   ? csrconv_fail(CSRCONV_BAD_ARGUMENT, "blob is NULL, blob_bytes is %zu",
                                  options->blob_bytes)
                   : CSRCONV_OK;
    status = csrconv_blob_open(options->blob, options->blob_bytes, blob);
    if (status)
        return status;
    options->algorithm = blob->identity.algorithm;
    if (!csrconv_is_wildcard(name) && strcmp(name, options->algorithm) != 0)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob is of %s, not of %s", options->algorithm,
                            name);
    algorithm = csrconv_find_algorithm(options->algorithm, options->peers);
    if (!algorithm || !algorithm->target)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob is of %s, which %s", options->algorithm,
                            algorithm ? "compiles nothing" : "is not in this build");
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

/* A blob that the plan is made from must be for the very same. */
static csrconv_status check_blob(struct csrconv_plan *plan, const csrconv_plan_options *options,
                                 const struct csrconv_blob *blob)
{
    const struct csrconv_algorithm *algorithm =
        csrconv_find_algorithm(options->algorithm, options->peers);
    const csrconv_status status = csrconv_blob_identify(&plan->problem, algorithm, &plan->identity);
    return status ? status : csrconv_blob_check_identity(&blob->identity, &plan->identity);
}

/* What is to be taken: a saved choice has the name, which is copied into `saved`. */
static csrconv_status read_wish(const struct csrconv_plan *plan,
                                const csrconv_plan_options *options,
                                char saved[CSRCONV_CHOICE_BYTES], struct csrconv_wish *wish)
{
    csrconv_status status;
    *wish = (struct csrconv_wish){ .name = name_of(options),
                                   .compile = options->compile,
                                   .is_saved = options->choice != NULL,
                                   .is_blob = options->blob != NULL };
    if (!wish->is_saved)
        return CSRCONV_OK;
    wish->name = saved;
    status = csrconv_choice_read(options->choice, &plan->problem, plan->pattern, saved);
    if (!status && !csrconv_find_algorithm(saved, options->peers))
        return csrconv_fail(CSRCONV_UNKNOWN_ALGORITHM,
                            "the saved choice is the algorithm \"%s\", which is not there", saved);
    return status;
}

/* Chooses; where the choice is measured, the algorithm that is taken is prepared then. */
static csrconv_status choose(struct csrconv_plan *plan, const csrconv_plan_options *options,
                             const struct csrconv_wish *wish, bool is_tuned)
{
    csrconv_status status =
        csrconv_consider(&plan->problem, wish, options->peers, &plan->memory, &plan->choice);
    if (!status && is_tuned)
        status = csrconv_tune(&plan->problem, wish, &plan->choice, &plan->prepared);
    if (status || (status = csrconv_choose(&plan->choice, wish)))
        return status;
    plan->algorithm = plan->choice.considered[plan->choice.chosen].algorithm;
    plan->dense_estimate_us = csrconv_dense_us(&plan->problem);
    return plan->algorithm->target && !wish->is_blob
               ? csrconv_blob_identify(&plan->problem, plan->algorithm, &plan->identity)
               : CSRCONV_OK;
}

static csrconv_status choose_and_prepare(struct csrconv_plan *plan,
                                         const csrconv_plan_options *options,
                                         const struct csrconv_blob *blob)
{
    char saved[CSRCONV_CHOICE_BYTES];
    struct csrconv_wish wish;
    csrconv_status status;
    bool is_tuned;
    plan->nonzeros = csrconv_nonzeros(plan->problem.weights);
    plan->pattern = csrconv_pattern_digest(plan->problem.weights);
    if ((status = read_wish(plan, options, saved, &wish)) ||
        (wish.is_blob && (status = check_blob(plan, options, blob))))
        return status;
    is_tuned = options->tune && csrconv_is_wildcard(wish.name);
    status = choose(plan, options, &wish, is_tuned);
    if (status || is_tuned)
        return status;
    plan->prepared.estimate = &plan->choice.considered[plan->choice.chosen].estimate;
    return plan->algorithm->prepare(plan->algorithm, &plan->problem, &plan->prepared);
}

static csrconv_status prepare(struct csrconv_plan *plan, const csrconv_plan_options *options,
                              const struct csrconv_blob *blob)
{
    int previous;
    csrconv_status status = copy_bias(plan);
    if (status || (status = csrconv_device_enter(&plan->problem, &previous)))
        return status;
    plan->problem.compiled = blob->contents;
    status = choose_and_prepare(plan, options, blob);
    plan->problem.compiled = (struct csrconv_contents){ NULL, 0 };
    plan->problem.weights = NULL;
    csrconv_device_leave(&plan->problem, previous);
    return status;
}

static csrconv_status create(const csrconv_weights *weights, const csrconv_geometry *geometry,
                             csrconv_plan_options *options, csrconv_plan **out)
{
    struct csrconv_problem problem = { 0 };
    struct csrconv_memory memory;
    struct csrconv_blob blob;
    csrconv_status status;
    if ((status = open_blob(options, &blob)) ||
        (status = fill_problem(&problem, weights, geometry, options)) ||
        (status = csrconv_memory_init(&memory, options->allocator)) ||
        (status = csrconv_allocate(&memory, 1, sizeof **out, (void **)out)))
        return status;
    memset(*out, 0, sizeof **out);
    (*out)->memory = memory;
    (*out)->problem = problem;
    (*out)->prepared.memory = memory;
    (*out)->prepared.memory.bytes = 0;
    return prepare(*out, options, &blob);
}

csrconv_status csrconv_plan_create(const csrconv_weights *weights, const csrconv_geometry *geometry,
                                   const csrconv_plan_options *given, csrconv_plan **out)
{
    const double start = clock_us();
    csrconv_plan_options options;
    csrconv_status status;
    if (!out)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "out is NULL");
    *out = NULL;
    status = read_options(given, &options);
    if (!status)
        status = create(weights, geometry, &options, out);
    if (status)
        csrconv_plan_destroy(out);
    else
        (*out)->plan_us = clock_us() - start;
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
