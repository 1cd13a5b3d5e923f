/*
 * Every algorithm on the built-in grid of verify, with nothing but the C library: what is built
 * for another architecture, or run on a processor without vector extensions.
 */
#include "complain.h"
#include "runner/check.h"
#include "runner/trial.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(const struct grid_case *problem, const char *algorithm, int status,
                 const char *detail, double max_error)
{
    (void)max_error;
    if (status != TRIAL_PASSED)
        printf("%s %s %s: %s\n", status == TRIAL_FAILED ? "FAILED" : "skipped", algorithm,
               problem->name, detail);
}

int main(void)
{
    int *wanted = calloc((size_t)selection_count(), sizeof *wanted);
    const struct check_request request = {
        .device = CSRCONV_DEVICE_CPU, .wanted = wanted, .seed = 1, .tell = tell
    };
    struct check_count count = { 0 };
    int code = wanted ? EXIT_DONE : complain(EXIT_WRONG, "memory", "no room for the algorithms");
    for (int i = 0; i < selection_count() && !code; i++)
        wanted[i] = 1;
    for (int i = 0; i < grid_count() && !code; i++) {
        struct grid_case problem;
        bool ran;
        grid_case(i, request.seed, &problem);
        code = check_problem(&request, &problem, &count, &ran);
    }
    free(wanted);
    printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", count.passed,
           count.failed, count.skipped);
    if (code)
        fprintf(stderr, "smoke: %s\n", complaint());
    return code || count.failed || !count.passed;
}
