/*
 * Every algorithm on the grid of verify, with exact and with real data.
 *
 * usage: check SEED THREADS
 */
#include "runner/check.h"
#include "complain.h"
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
        printf("%s %s, %s: %s\n", status == TRIAL_FAILED ? "FAILED" : "skipped", algorithm,
               problem->name, detail);
}

/* Adds up over the devices that this machine has. */
static int check_device(csrconv_device device, uint64_t seed, int threads, const int *wanted,
                        struct check_count *count)
{
    const struct check_request request = { device, 0, wanted, threads, seed, tell };
    if (csrconv_device_usable(device, 0)) {
        printf("skipped: %s\n", csrconv_last_error());
        return EXIT_DONE;
    }
    for (int i = 0; i < grid_count(); i++) {
        struct grid_case problem;
        bool ran;
        int code;
        grid_case(i, seed, &problem);
        code = check_problem(&request, &problem, count, &ran);
        if (code) {
            printf("FAILED %s: %s\n", problem.name, complaint());
            return code;
        }
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const int threads = argc > 2 ? atoi(argv[2]) : 0;
    const struct text_list all = { 0 };
    struct check_count count = { 0 };
    int *wanted = calloc((size_t)selection_count(), sizeof *wanted);
    int code = !wanted || selection_mark(&all, wanted);
    if (!code)
        code = check_device(CSRCONV_DEVICE_CPU, seed, threads, wanted, &count);
    if (!code)
        code = check_device(CSRCONV_DEVICE_CUDA, seed, threads, wanted, &count);
    printf("seed %" PRIu64 ", threads %d: %" PRId64 " passed, %" PRId64 " failed, %" PRId64
           " skipped\n",
           seed, threads, count.passed, count.failed, count.skipped);
    free(wanted);
    return code || count.failed || !count.passed;
}
