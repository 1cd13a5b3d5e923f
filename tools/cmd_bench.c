/* csrconv bench: verified times of sparse and dense, side by side. */
#include "bench.h"
#include "command.h"
#include "complain.h"
#include "options.h"
#include "output.h"
#include "report/progress.h"
#include "report/report_format.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: csrconv bench [OPTION ...] PROBLEM ... | --network NAME|FILE.csv\n"
    "\n"
    "Verifies every algorithm and then times them side by side; times start from plain NCHW.\n"
    "\n"
    "  PROBLEM               a benchdnn descriptor (mb images, ic oc channels, ih oh sizes, kh\n"
    "                        kernel, sh stride, ph padding, dh dilation, g groups), or @FILE\n"
    "                        with one a line\n"
    "  --network NAME|FILE.csv       the layers with published sparsity >= 0.5 at the published "
    "batch\n"
    "  --all-layers          the other layers too\n"
    "  --weights FILE        real weights for the one PROBLEM; --order rsc if columns are (r, s, "
    "c)\n"
    "  --device auto|cpu|cuda[:N]\n"
    "  --algo A,B|all        (all)\n"
    "  --sparsity P[,P..]    fraction of zeros (the published one, else 0.9)\n"
    "  --batch N[,N..]       (the problem's own)\n"
    "  --threads T[,T..]     0 = all (0)\n"
    "  --seed N              of generated weights and activations (1)\n"
    "  --cold                also with caches that other data went through\n"
    "  --min-time S          seconds of samples for each algorithm at least (0: 30 samples)\n"
    "  --csv F --json F --svg F      write the measurements; - is standard output\n"
    "  --explain             how each algorithm maps the problem, and its part of the measured "
    "peak\n"
    "  --graph               whole network as one CUDA graph (CUDA only)\n"
    "\n"
    "Exit 0; 1 if a result was wrong; 3 if a problem ran nowhere.\n"
    "\n"
    "examples:\n"
    "  csrconv bench --network alexnet --batch 1\n"
    "  csrconv bench --sparsity 0.5,0.7,0.9,0.95 mb1ic256ih14oc256oh14kh3ph1 --svg sweep.svg\n"
    "  csrconv bench --weights conv3.mtx mb1ic256ih13oc384oh13kh3ph1 --csv conv3.csv\n";

struct bench_options {
    const char *device, *network, *weights, *order, *csv, *json, *svg;
    struct text_list algorithms, problems;
    struct real_list sparsities;
    struct whole_list batches, threads;
    int64_t seed;
    double min_time_s;
    int is_cold, all_layers, is_graph, is_explained;
};

static int check_combination(const struct bench_options *o)
{
    if (!o->problems.count && !o->network)
        return complain(EXIT_BAD, "bench", "needs a PROBLEM or --network; --help has examples");
    if (o->all_layers && !o->network)
        return complain(EXIT_BAD, "--all-layers", "goes with --network");
    if (o->order && !o->weights)
        return complain(EXIT_BAD, "--order", "goes with --weights");
    return EXIT_DONE;
}

static int parse(int argc, char **argv, struct bench_options *o)
{
    const int64_t most = INT64_MAX;
    const struct option_spec specs[] = {
        { .name = "device", .kind = OPTION_TEXT, .value = &o->device },
        { .name = "network", .kind = OPTION_TEXT, .value = &o->network },
        { .name = "weights", .kind = OPTION_TEXT, .value = &o->weights },
        { .name = "order", .kind = OPTION_TEXT, .value = &o->order },
        { .name = "csv", .kind = OPTION_TEXT, .value = &o->csv },
        { .name = "json", .kind = OPTION_TEXT, .value = &o->json },
        { .name = "svg", .kind = OPTION_TEXT, .value = &o->svg },
        { .name = "algo", .kind = OPTION_TEXTS, .value = &o->algorithms },
        { .name = "sparsity", .kind = OPTION_REALS, .value = &o->sparsities, .low = 0, .below = 1 },
        { .name = "batch", .kind = OPTION_WHOLES, .value = &o->batches, .least = 1, .most = most },
        { .name = "threads",
          .kind = OPTION_WHOLES,
          .value = &o->threads,
          .least = 0,
          .most = 4096 },
        { .name = "seed", .kind = OPTION_WHOLE, .value = &o->seed, .least = 0, .most = most },
        { .name = "min-time",
          .kind = OPTION_REAL,
          .value = &o->min_time_s,
          .low = 0,
          .below = 1e6 },
        { .name = "cold", .kind = OPTION_FLAG, .value = &o->is_cold },
        { .name = "all-layers", .kind = OPTION_FLAG, .value = &o->all_layers },
        { .name = "graph", .kind = OPTION_FLAG, .value = &o->is_graph },
        { .name = "explain", .kind = OPTION_FLAG, .value = &o->is_explained },
        { 0 },
    };
    const int code = options_parse(&command_bench, specs, argc, argv, &o->problems);
    return code ? code : check_combination(o);
}

/* Real weights take their kernel from the one problem that they are for. */
static int read_weights(const struct bench_options *o, const struct problem_list *list,
                        struct weights_input *weights)
{
    const csrconv_geometry *g = &list->items[0].geometry;
    char seed[48];
    struct weights_request request = {
        .files = o->weights,
        .groups = g->groups,
        .kernel = { g->channels / g->groups, g->kernel_h, g->kernel_w },
        .pattern_values = seed,
    };
    int code = weights_input_order(o->order ? o->order : "crs", &request.is_rsc);
    if (code)
        return code;
    if (list->count != 1)
        return complain(EXIT_BAD, "--weights", "is for one PROBLEM, not for %zu", list->count);
    if (o->sparsities.count)
        return complain(EXIT_BAD, "--sparsity", "is what --weights has; give one of them");
    snprintf(seed, sizeof seed, "random:%" PRId64, o->seed);
    code = weights_input_read(&request, weights);
    if (!code && weights->view.filters != g->filters)
        code = complain(EXIT_BAD, o->weights, "has %" PRId64 " filters, the problem %" PRId64,
                        weights->view.filters, g->filters);
    if (!code && weights->note[0])
        fprintf(stderr, "%s\n", weights->note);
    return code;
}

static int bench_points(const struct bench_options *o, const struct bench_request *request,
                        const struct problem_list *list, struct report *report,
                        struct bench_count *count)
{
    const int points = problem_points(&o->batches, &o->sparsities);
    struct progress progress = progress_start(stderr, (int64_t)list->count * points);
    int code = EXIT_DONE;
    for (size_t i = 0; i < list->count && !code; i++) {
        for (int p = 0; p < points && !code; p++) {
            struct problem_point point;
            progress_show(&progress, (int64_t)i * points + p, list->items[i].name);
            code = problem_point(&list->items[i], &o->batches, &o->sparsities, p, &point);
            if (!code)
                code = bench_point(request, &point, report, count);
        }
    }
    progress_clear(&progress);
    return code;
}

/*
 * The files that were asked for. They are opened before anything is measured, so that no hour of
 * measuring is lost to a folder that is not there.
 */
enum { BENCH_FILES = 3 };

struct bench_file {
    const char *path; /* NULL: not asked for */
    const struct report_format *format;
    struct output *output;
};

/* Of two measurements in one file the second would replace the first, or follow it in a pipe. */
static int check_files(const struct bench_file files[BENCH_FILES])
{
    for (int i = 0; i < BENCH_FILES; i++)
        for (int j = 0; j < i; j++)
            if (files[i].path && files[j].path && strcmp(files[i].path, files[j].path) == 0)
                return complain(EXIT_BAD, files[i].path, "is asked for as %s and as %s",
                                files[j].format->name, files[i].format->name);
    return EXIT_DONE;
}

static int open_files(struct bench_file files[BENCH_FILES])
{
    int code = EXIT_DONE;
    for (int i = 0; i < BENCH_FILES && !code; i++)
        if (files[i].path)
            code = output_open(files[i].path, &files[i].output);
    return code;
}

/* Without a result the files stay as they were, and the table says why there is none. */
static int save_files(struct bench_file files[BENCH_FILES], const struct report *report,
                      const struct bench_count *count)
{
    bool is_stdout_taken = false;
    int code = EXIT_DONE;
    for (int i = 0; i < BENCH_FILES && !code; i++) {
        if (!files[i].path)
            continue;
        is_stdout_taken = is_stdout_taken || strcmp(files[i].path, "-") == 0;
        if (!count->measured)
            continue;
        code = files[i].format->write(report, output_stream(files[i].output));
        if (!code)
            code = output_commit(&files[i].output);
    }
    if (!code && !is_stdout_taken && report->count)
        code = report_save(report, &report_format_table, "-");
    return code;
}

/* The warnings are far above by now, and what the table concludes may be their doing. */
static void repeat_warning(const struct bench_count *count)
{
    fflush(stdout);
    if (count->disturbed)
        fprintf(stderr,
                "warning: other processes were busy during %" PRId64 " of %" PRId64
                " timings: these times, and what pays by them, hold for this load only\n",
                count->disturbed, count->timed);
}

static int conclude(const struct bench_count *count)
{
    repeat_warning(count);
    if (count->failed)
        return complain(EXIT_WRONG, "bench", "%" PRId64 " results were wrong or missing",
                        count->failed);
    if (count->idle)
        return complain(EXIT_REFUSED, "bench", "nothing ran for %" PRId64 " of the points",
                        count->idle);
    return EXIT_DONE;
}

static int bench_list(const struct bench_options *o, struct bench_request *request,
                      const struct problem_list *list)
{
    struct weights_input weights = { 0 };
    struct bench_count count = { 0 };
    struct bench_file files[BENCH_FILES] = { { o->csv, &report_format_csv, NULL },
                                             { o->json, &report_format_json, NULL },
                                             { o->svg, &report_format_svg, NULL } };
    struct report report;
    int code = o->weights ? read_weights(o, list, &weights) : EXIT_DONE;
    if (o->weights)
        request->weights = &weights;
    report_init(&report);
    report.is_explained = o->is_explained;
    if (!code)
        code = check_files(files);
    if (!code)
        code = open_files(files);
    if (!code)
        code = bench_points(o, request, list, &report, &count);
    if (!code)
        code = save_files(files, &report, &count);
    for (int i = 0; i < BENCH_FILES; i++)
        output_abandon(&files[i].output);
    report_free(&report);
    weights_input_free(&weights);
    return code ? code : conclude(&count);
}

static int bench(const struct bench_options *o, int *wanted)
{
    const struct problems_request problems = { &o->problems, o->network, o->all_layers };
    struct bench_request request = { .wanted = wanted,
                                     .threads = &o->threads,
                                     .seed = (uint64_t)o->seed,
                                     .min_time_s = o->min_time_s,
                                     .is_cold = o->is_cold,
                                     .is_one_sparsity = o->sparsities.count <= 1,
                                     .is_explained = o->is_explained };
    struct problem_list list = { 0 };
    int code;
    if ((code = selection_usable_device(o->device, &request.device, &request.ordinal,
                                        &request.device_name)) ||
        (code = selection_mark_of(&o->algorithms, request.device, wanted)))
        return code;
    if (o->is_graph && request.device != CSRCONV_DEVICE_CUDA)
        return complain(EXIT_REFUSED, "--graph", "needs a CUDA device, the device is %s",
                        request.device_name);
    if (o->is_graph)
        return complain(EXIT_REFUSED, "--graph", "whole networks cannot be captured yet");
    fprintf(stderr, "device: %s\n", request.device_name);
    selection_warn_of_threads(request.device, &o->threads);
    code = problems_input(&problems, &list);
    if (!code)
        code = bench_list(o, &request, &list);
    problem_list_clear(&list);
    return code;
}

static int run(int argc, char **argv)
{
    struct bench_options options = { .device = "auto", .seed = 1 };
    int *wanted = calloc((size_t)selection_count(), sizeof *wanted);
    int code = wanted ? parse(argc, argv, &options)
                      : complain(EXIT_WRONG, "memory", "no room for the list of algorithms");
    if (!code)
        code = bench(&options, wanted);
    text_list_free(&options.algorithms);
    text_list_free(&options.problems);
    real_list_free(&options.sparsities);
    whole_list_free(&options.batches);
    whole_list_free(&options.threads);
    free(wanted);
    return code;
}

const struct command command_bench = {
    .name = "bench",
    .summary = "time sparse against dense, verified",
    .help = help,
    .run = run,
};
