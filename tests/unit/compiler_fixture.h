/* A peer that compiles, as cuda_jit does, but for the CPU: the direct algorithm with a text as
 * code. */
#ifndef CSRCONV_UNIT_COMPILER_FIXTURE_H
#define CSRCONV_UNIT_COMPILER_FIXTURE_H

#include "csrconv.h"

#define COMPILER_CODE "code"

/* What it claims of itself, and how often it compiled. */
struct compiler {
    const char *machine;
    double estimate_us;
    int compilations;
};
extern struct compiler compiler;
extern const csrconv_algorithm *const compiler_peers[];

/* Sets it up anew, and makes the options ask for it by name. */
void compiler_reset(csrconv_plan_options *options);

/* From now on it compiles nothing. */
void compiler_forget_target(void);

#endif
