#include "plan.h"

#include "device.h"
#include "status.h"

#include <string.h>
#include <time.h>

static double clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static csrconv_status check_options(const csrconv_plan_options *options)
{
    const csrconv_epilogue *e = &options->epilogue;
    const csrconv_status status =
        csrconv_check_struct("csrconv_plan_options", options->struct_size, sizeof *options);
    if (status)
        return status;
    if (e->activation < CSRCONV_ACTIVATION_NONE || e->activation > CSRCONV_ACTIVATION_CLAMP)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "activation is %d", (int)e->activation);
    if (e->activation == CSRCONV_ACTIVATION_CLAMP && !(e->lo <= e->hi))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "clamp to [%g, %g] is empty", (double)e->lo,
                            (double)e->hi);
    if (e->residual != 0 && e->residual != 1)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "residual is %d, must be 0 or 1", e->residual);
    if (options->compile < CSRCONV_COMPILE_AUTO || options->compile > CSRCONV_COMPILE_NEVER)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "compile is %d", (int)options->compile);
    return CSRCONV_OK;
}

static csrconv_status check_name(const csrconv_plan_options *options)
{
    const char *name = options->algorithm;
    if (csrconv_is_wildcard(name) || csrconv_find_algorithm(name, options->peers))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_UNKNOWN_ALGORITHM, "there is no algorithm \"%s\"", name);
}

/* Opens the options' blob, if there is one: the name that it asks for takes the place of theirs. */
static csrconv_status open_blob(csrconv_plan_options *options, struct csrconv_blob *blob)
{
    const char *name = options->algorithm;
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
        options->algorithm ? csrconv_find_algorithm(options->algorithm, options->peers) : NULL;
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
    if ((status = csrconv_shape_init(&problem->shape, geometry)) ||
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

static csrconv_status choose(struct csrconv_plan *plan, const csrconv_plan_options *options)
{
    const struct csrconv_wish wish = { options->algorithm ? options->algorithm : "auto",
                                       options->peers, options->compile };
    const csrconv_status status =
        csrconv_choose(&plan->problem, &wish, &plan->memory, &plan->choice);
    if (status)
        return status;
    plan->algorithm = plan->choice.considered[plan->choice.chosen].algorithm;
    plan->nonzeros = csrconv_nonzeros(plan->problem.weights);
    plan->dense_estimate_us = csrconv_dense_us(&plan->problem);
    return plan->algorithm->target && !plan->problem.compiled.bytes
               ? csrconv_blob_identify(&plan->problem, plan->algorithm, &plan->identity)
               : CSRCONV_OK;
}

static csrconv_status choose_and_prepare(struct csrconv_plan *plan,
                                         const csrconv_plan_options *options,
                                         const struct csrconv_blob *blob)
{
    csrconv_status status = CSRCONV_OK;
    if (blob->contents.bytes)
        status = check_blob(plan, options, blob);
    if (status || (status = choose(plan, options)))
        return status;
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
                                   const csrconv_plan_options *options, csrconv_plan **out)
{
    const double start = clock_us();
    csrconv_plan_options wanted;
    csrconv_status status;
    if (!out)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "out is NULL");
    *out = NULL;
    csrconv_plan_options_init(&wanted);
    if (options && (status = check_options(options)))
        return status;
    if (options)
        wanted = *options;
    status = create(weights, geometry, &wanted, out);
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
