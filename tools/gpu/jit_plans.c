/*
 * Measures plans of cuda_jit: how long they take to be compiled, how large their blobs are, how
 * long they take to be made again from these.
 *
 *   jit_plans SPARSITY --network=NAME|PROBLEM ...
 *
 * A network stands for all of its convolutions, at the published batch. Prints CSV, and the sums.
 */
#include "complain.h"
#include "number.h"
#include "problems_input.h"
#include "runner/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    int plans;
    double compiled_us, blob_bytes, again_us;
};

/* The plan's own words on how it was made; false if it was not. */
static bool make_plan(const struct workload *w, const void *blob, size_t blob_bytes,
                      csrconv_plan **plan, csrconv_plan_info *info)
{
    csrconv_plan_options options;
    csrconv_plan_options_init(&options);
    options.device = CSRCONV_DEVICE_CUDA;
    options.algorithm = "cuda_jit";
    options.blob = blob;
    options.blob_bytes = blob_bytes;
    info->struct_size = sizeof *info;
    return !csrconv_plan_create(w->weights, &w->geometry, &options, plan) &&
           !csrconv_plan_describe(*plan, info);
}

static bool measure(const struct workload *w, csrconv_plan_info *first, csrconv_plan_info *again)
{
    csrconv_plan *plan = NULL, *second = NULL;
    void *blob = NULL;
    const bool is_done = make_plan(w, NULL, 0, &plan, first) &&
                         (blob = malloc(first->blob_bytes)) &&
                         !csrconv_plan_blob(plan, blob, first->blob_bytes) &&
                         make_plan(w, blob, first->blob_bytes, &second, again);
    csrconv_plan_destroy(&second);
    csrconv_plan_destroy(&plan);
    free(blob);
    return is_done;
}

static int measure_problem(const struct problem *problem, double sparsity, struct sums *sums)
{
    const struct workload_options options = { .seed = 1, .sparsity = sparsity };
    struct workload workload = { 0 };
    csrconv_plan_info first, again;
    int code = workload_make(&problem->geometry, &options, &workload);
    if (!code && measure(&workload, &first, &again)) {
        printf("%s,%g,%lld,%.0f,%zu,%.0f\n", problem->name, sparsity, (long long)first.nonzeros,
               first.plan_us, first.blob_bytes, again.plan_us);
        sums->plans++;
        sums->compiled_us += first.plan_us;
        sums->blob_bytes += (double)first.blob_bytes;
        sums->again_us += again.plan_us;
    } else if (!code) {
        fprintf(stderr, "%s: %s\n", problem->name, csrconv_last_error());
    }
    workload_free(&workload);
    return code;
}

static int measure_all(const char *argument, double sparsity, struct sums *sums)
{
    const bool is_network = strncmp(argument, "--network=", 10) == 0;
    struct text_list descriptors = { 0 };
    struct problems_request request = { .arguments = &descriptors, .all_layers = true };
    struct problem_list list = { 0 };
    int code = EXIT_DONE;
    if (is_network)
        request.network = argument + 10;
    else
        code = text_list_append("PROBLEM", argument, &descriptors);
    if (!code)
        code = problems_input(&request, &list);
    for (size_t i = 0; i < list.count && !code; i++)
        code = measure_problem(&list.items[i], sparsity, sums);
    problem_list_clear(&list);
    text_list_free(&descriptors);
    return code;
}

static int measure_arguments(int argc, char **argv)
{
    struct sums sums = { 0 };
    double sparsity;
    int code;
    if (argc < 3)
        return complain(EXIT_BAD, "usage", "jit_plans SPARSITY --network=NAME|PROBLEM ...");
    code = number_real("SPARSITY", argv[1], 0.0, 1.0, &sparsity);
    if (code)
        return code;
    printf("problem,sparsity,nonzeros,compiled_us,blob_bytes,again_us\n");
    for (int i = 2; i < argc && !code; i++)
        code = measure_all(argv[i], sparsity, &sums);
    fprintf(stderr, "%d plans: compiled in %.2f s, blobs of %.1f MB, made again in %.2f s\n",
            sums.plans, sums.compiled_us * 1e-6, sums.blob_bytes * 1e-6, sums.again_us * 1e-6);
    if (!code && !sums.plans)
        return complain(EXIT_REFUSED, "plans", "none could be made");
    return code;
}

int main(int argc, char **argv)
{
    const int code = measure_arguments(argc, argv);
    if (code)
        fprintf(stderr, "jit_plans: %s\n", complaint());
    return code;
}
