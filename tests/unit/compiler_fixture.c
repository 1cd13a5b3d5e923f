#include "compiler_fixture.h"

#include "choose.h"
#include "status.h"

#include <string.h>

struct compiler compiler = { .machine = "a machine", .estimate_us = 1e-6 };
static struct csrconv_algorithm algorithm;
const csrconv_algorithm *const compiler_peers[] = { &algorithm, NULL };

static csrconv_status target(const struct csrconv_problem *problem, char text[CSRCONV_TARGET_BYTES])
{
    (void)problem;
    strncpy(text, compiler.machine, CSRCONV_TARGET_BYTES - 1);
    return CSRCONV_OK;
}

static size_t contents(const void *state, void *bytes)
{
    (void)state;
    if (bytes)
        memcpy(bytes, COMPILER_CODE, sizeof COMPILER_CODE);
    return sizeof COMPILER_CODE;
}

static csrconv_status estimate(const struct csrconv_algorithm *self,
                               const struct csrconv_problem *problem,
                               struct csrconv_estimate *estimate)
{
    const struct csrconv_contents *c = &problem->compiled;
    (void)self;
    estimate->us = compiler.estimate_us;
    if (!c->bytes ||
        (c->size == sizeof COMPILER_CODE && memcmp(c->bytes, COMPILER_CODE, c->size) == 0))
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_BAD_BLOB, "this is no code");
}

static csrconv_status prepare(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared)
{
    const struct csrconv_algorithm *direct = csrconv_find_algorithm("direct", NULL);
    (void)self;
    compiler.compilations += !problem->compiled.bytes;
    return direct->prepare(direct, problem, prepared);
}

void compiler_reset(csrconv_plan_options *options)
{
    compiler = (struct compiler){ .machine = "a machine", .estimate_us = 1e-6 };
    algorithm = *csrconv_find_algorithm("direct", NULL);
    algorithm.info.name = "compiler";
    algorithm.info.is_peer = 1;
    algorithm.target = target;
    algorithm.contents = contents;
    algorithm.prepare = prepare;
    algorithm.estimate = estimate;
    options->peers = compiler_peers;
    options->algorithm = "compiler";
}

void compiler_forget_target(void)
{
    algorithm.target = NULL;
}
