/* csrconv verify: every algorithm against the oracle, on problems or on the built-in grid. */
#include "command.h"
#include "complain.h"
#include "options.h"
#include "problems_input.h"
#include "runner/check.h"
#include "runner/trial.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: csrconv verify [OPTION ...] [PROBLEM ...]\n"
    "\n"
    "Runs algorithms on whole numbers, where every sum must be exact, and on real ones, where "
    "errors\n"
    "must keep to a bound, and compares each output with an oracle in double precision. Without a\n"
    "PROBLEM it runs a built-in grid of corner cases and random problems.\n"
    "\n"
    "  PROBLEM               a benchdnn descriptor (mb images, ic oc channels, ih oh sizes, kh\n"
    "                        kernel, sh stride, ph padding, dh dilation, g groups), or @FILE\n"
    "                        with one a line\n"
    "  --network NAME|FILE.csv       the layers of a network that have a published sparsity\n"
    "  --device auto|cpu|cuda[:N]\n"
    "  --algo A,B|all        (all)\n"
    "  --sparsity P[,P..]    fraction of zeros (the published one, else 0.9)\n"
    "  --batch N[,N..]       (the problem's own)\n"
    "  --threads T           0 = all (0)\n"
    "  --seed N              of weights and activations (1)\n"
    "\n"
    "Exit 0 if all were right; 1 if one was wrong, or none passed; 3 if a problem ran nowhere.\n"
    "\n"
    "examples:\n"
    "  csrconv verify\n"
    "  csrconv verify --algo direct --sparsity 0.5,0.9 mb2ic64ih14oc64oh14kh3ph1\n";

struct verify_options {
    const char *device, *network;
    struct text_list algorithms, problems;
    struct real_list sparsities;
    struct whole_list batches;
    int64_t threads, seed;
};

static int parse(int argc, char **argv, struct verify_options *o)
{
    const struct option_spec specs[] = {
        { .name = "device", .kind = OPTION_TEXT, .value = &o->device },
        { .name = "network", .kind = OPTION_TEXT, .value = &o->network },
        { .name = "algo", .kind = OPTION_TEXTS, .value = &o->algorithms },
        { .name = "sparsity", .kind = OPTION_REALS, .value = &o->sparsities, .low = 0, .below = 1 },
        { .name = "batch",
          .kind = OPTION_WHOLES,
          .value = &o->batches,
          .least = 1,
          .most = INT64_MAX },
        { .name = "threads", .kind = OPTION_WHOLE, .value = &o->threads, .least = 0, .most = 4096 },
        { .name = "seed", .kind = OPTION_WHOLE, .value = &o->seed, .least = 0, .most = INT64_MAX },
        { 0 },
    };
    return options_parse(&command_verify, specs, argc, argv, &o->problems);
}

static void tell(const struct grid_case *problem, const char *algorithm, int status,
                 const char *detail, double max_error)
{
    if (status == TRIAL_PASSED)
        printf("ok      %-18s %s: largest error %.3f of the bound\n", algorithm, problem->name,
               max_error);
    else
        printf("%s %-18s %s: %s\n", status == TRIAL_FAILED ? "FAILED " : "skipped", algorithm,
               problem->name, detail);
    fflush(stdout);
}

/* What is left to say when all has run. */
static int conclude(const struct check_count *count, int64_t idle)
{
    printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", count->passed,
           count->failed, count->skipped);
    if (count->failed)
        return complain(EXIT_WRONG, "verify", "%" PRId64 " results were wrong", count->failed);
    if (idle)
        return complain(EXIT_REFUSED, "verify", "nothing ran for %" PRId64 " of the problems",
                        idle);
    if (!count->passed)
        return complain(EXIT_WRONG, "verify", "nothing was tested");
    return EXIT_DONE;
}

static int verify_case(const struct check_request *request, const struct grid_case *problem,
                       struct check_count *count, int64_t *idle)
{
    bool ran;
    const int code = check_problem(request, problem, count, &ran);
    *idle += !code && !ran;
    return code;
}

static int verify_grid(const struct check_request *request)
{
    struct check_count count = { 0 };
    int64_t idle = 0;
    int code = EXIT_DONE;
    for (int i = 0; i < grid_count() && !code; i++) {
        struct grid_case problem;
        grid_case(i, request->seed, &problem);
        code = verify_case(request, &problem, &count, &idle);
    }
    return code ? code : conclude(&count, idle);
}

/* A point of a problem as the checker takes it: with a bias, and a ReLU behind it. */
static int as_case(const struct problem *problem, const struct verify_options *o, int index,
                   struct grid_case *out)
{
    struct problem_point point;
    const int code = problem_point(problem, &o->batches, &o->sparsities, index, &point);
    *out = (struct grid_case){ .geometry = point.geometry,
                               .n = point.geometry.batch,
                               .options = { .sparsity = point.sparsity,
                                            .has_bias = true,
                                            .activation = CSRCONV_ACTIVATION_RELU } };
    snprintf(out->name, sizeof out->name, "%.90s batch %" PRId64 " at %g %%", problem->name,
             point.geometry.batch, point.sparsity * 100.0);
    return code;
}

static int verify_problems(const struct check_request *request, const struct verify_options *o,
                           const struct problem_list *list)
{
    const int points = problem_points(&o->batches, &o->sparsities);
    struct check_count count = { 0 };
    int64_t idle = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; i < list->count && !code; i++) {
        for (int p = 0; p < points && !code; p++) {
            struct grid_case problem;
            code = as_case(&list->items[i], o, p, &problem);
            if (!code)
                code = verify_case(request, &problem, &count, &idle);
        }
    }
    return code ? code : conclude(&count, idle);
}

static int verify(const struct verify_options *o, struct check_request *request, int *wanted)
{
    const struct problems_request problems = { &o->problems, o->network, false };
    struct problem_list list = { 0 };
    const char *device;
    int code;
    if ((code = selection_usable_device(o->device, &request->device, &request->ordinal, &device)) ||
        (code = selection_mark_of(&o->algorithms, request->device, wanted)))
        return code;
    request->wanted = wanted;
    printf("device: %s\n", device);
    if (!o->problems.count && !o->network)
        return verify_grid(request);
    code = problems_input(&problems, &list);
    if (!code)
        code = verify_problems(request, o, &list);
    problem_list_clear(&list);
    return code;
}

static int run(int argc, char **argv)
{
    struct verify_options options = { .device = "auto", .seed = 1 };
    int *wanted = calloc((size_t)selection_count(), sizeof *wanted);
    int code = wanted ? parse(argc, argv, &options)
                      : complain(EXIT_WRONG, "memory", "no room for the list of algorithms");
    if (!code) {
        struct check_request request = { .threads = (int)options.threads,
                                         .seed = (uint64_t)options.seed,
                                         .tell = tell };
        code = verify(&options, &request, wanted);
    }
    text_list_free(&options.algorithms);
    text_list_free(&options.problems);
    real_list_free(&options.sparsities);
    whole_list_free(&options.batches);
    free(wanted);
    return code;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "check every algorithm against a double-precision oracle",
    .help = help,
    .run = run,
};
