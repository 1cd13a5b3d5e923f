/* csrconv bench: verified times of sparse and dense, side by side. */
#include "bench.h"
#include "bench_files.h"
#include "command.h"
#include "complain.h"
#include "options.h"
#include "report/progress.h"
#include "selection.h"
#include "weights_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: csrconv bench [OPTION ...] PROBLEM ... | MODEL | --network NAME|FILE.csv\n"
    "\n"
    "Verifies every algorithm and then times them side by side; times start from plain NCHW.\n"
    "\n"
    "  PROBLEM               a benchdnn descriptor (mb images, ic oc channels, ih oh sizes, kh\n"
    "                        kernel, sh stride, ph padding, dh dilation, g groups), or @FILE\n"
    "                        with one a line\n"
    "  MODEL                 an ONNX file: its convolutions with their weights, as they are or, "
    "with\n"
    "                        --sparsity, pruned by magnitude layer by layer\n"
    "  --input-shape N,C,H,W | NAME:N,C,H,W[;...]    of a MODEL that does not tell it\n"
    "  --fold-bn             fold the BatchNormalization behind a MODEL's convolutions into them\n"
    "  --network NAME|FILE.csv       the layers with published sparsity >= 0.5 at the published "
    "batch\n"
    "  --all-layers          the other layers too\n"
    "  --weights FILE        real weights for the one PROBLEM; --order rsc if columns are (r, s, "
    "c)\n"
    "  --device auto|cpu|cuda[:N]\n"
    "  --algo A,B|all        (all)\n"
    "  --sparsity P[,P..]    fraction of zeros (the published one, or that of the weights, else "
    "0.9)\n"
    "  --batch N[,N..]       (the problem's own)\n"
    "  --threads T[,T..]     0 = all (0)\n"
    "  --seed N              of generated weights and activations (1)\n"
    "  --cold                also with caches that other data went through\n"
    "  --min-time S          seconds of samples for each algorithm at least (0: 30 samples)\n"
    "  --csv F --json F --svg F      write the measurements; - is standard output\n"
    "  --explain             how each algorithm maps the problem, and its part of the measured "
    "peak\n"
    "  --graph               the layers one behind the other, each with its own tensors, as one\n"
    "                        CUDA graph (on a CPU without a graph), in place of each by itself\n"
    "  --tune                the automatic choice measures instead of estimating\n"
    "  --save-choices F --load-choices F     keep the automatic choices, and take kept ones that\n"
    "                        fit the layer, its nonzeros and the device\n"
    "\n"
    "Exit 0; 1 if a result was wrong; 3 if a problem ran nowhere.\n"
    "\n"
    "examples:\n"
    "  csrconv bench --network alexnet --batch 1\n"
    "  csrconv bench --network resnet50 --batch 1 --graph --tune\n"
    "  csrconv bench --sparsity 0.5,0.7,0.9,0.95 mb1ic256ih14oc256oh14kh3ph1 --svg sweep.svg\n"
    "  csrconv bench net.onnx --sparsity 0.8,0.9,0.95\n"
    "  csrconv bench --weights conv3.mtx mb1ic256ih13oc384oh13kh3ph1 --csv conv3.csv\n";

struct bench_options {
    const char *device, *network, *weights, *order, *input_shape, *load_choices;
    struct bench_files files;
    struct text_list algorithms, problems;
    struct real_list sparsities;
    struct whole_list batches, threads;
    int64_t seed;
    double min_time_s;
    int is_cold, all_layers, is_graph, is_explained, is_tuned, folds;
};

static int check_combination(const struct bench_options *o)
{
    if (!o->problems.count && !o->network)
        return complain(EXIT_BAD, "bench", "needs a PROBLEM or --network; --help has examples");
    if (o->all_layers && !o->network)
        return complain(EXIT_BAD, "--all-layers", "goes with --network");
    if (!o->problems.count && (o->input_shape || o->folds))
        return complain(EXIT_BAD, o->folds ? "--fold-bn" : "--input-shape", "goes with a MODEL");
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
        { .name = "csv", .kind = OPTION_TEXT, .value = &o->files.paths[BENCH_CSV] },
        { .name = "json", .kind = OPTION_TEXT, .value = &o->files.paths[BENCH_JSON] },
        { .name = "svg", .kind = OPTION_TEXT, .value = &o->files.paths[BENCH_SVG] },
        { .name = "save-choices", .kind = OPTION_TEXT, .value = &o->files.paths[BENCH_CHOICES] },
        { .name = "load-choices", .kind = OPTION_TEXT, .value = &o->load_choices },
        { .name = "input-shape", .kind = OPTION_TEXT, .value = &o->input_shape },
        { .name = "fold-bn", .kind = OPTION_FLAG, .value = &o->folds },
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
        { .name = "tune", .kind = OPTION_FLAG, .value = &o->is_tuned },
        { .name = "explain", .kind = OPTION_FLAG, .value = &o->is_explained },
        { 0 },
    };
    const int code = options_parse(&command_bench, specs, argc, argv, &o->problems);
    return code ? code : check_combination(o);
}

/* Hands the weights over to the problem. */
static int use_weights(const struct bench_options *o, const struct weights_input *weights,
                       struct problem *problem)
{
    if (weights->note[0])
        fprintf(stderr, "%s\n", weights->note);
    if (weights->view.filters != problem->geometry.filters)
        return complain(EXIT_BAD, o->weights, "has %" PRId64 " filters, the problem %" PRId64,
                        weights->view.filters, problem->geometry.filters);
    float *const dense = weights_input_dense(weights);
    const int code = dense ? problem_set_weights(problem, dense, weights->digest) : EXIT_WRONG;
    free(dense);
    return code;
}

/* Real weights take their kernel from the one problem that they are for. */
static int read_weights(const struct bench_options *o, struct problem_list *list)
{
    const csrconv_geometry *g = &list->items[0].geometry;
    struct weights_input weights;
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
    code = weights_input_read(&request, &weights);
    if (!code)
        code = use_weights(o, &weights, &list->items[0]);
    weights_input_free(&weights);
    return code;
}

static int bench_layers(const struct bench_options *o, const struct bench_request *request,
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

/* All layers at each point. */
static int bench_networks(const struct bench_options *o, const struct bench_request *request,
                          const struct problem_list *list, struct report *report,
                          struct bench_count *count)
{
    const int points = problem_points(&o->batches, &o->sparsities);
    struct problem_point *const layers = calloc(list->count, sizeof *layers);
    const int64_t steps = bench_network_steps(request, list->count);
    struct progress progress = progress_start(stderr, steps * points);
    int code = layers ? EXIT_DONE : complain(EXIT_WRONG, "memory", "no room for the layers");
    for (int p = 0; p < points && !code; p++) {
        for (size_t i = 0; i < list->count && !code; i++)
            code = problem_point(&list->items[i], &o->batches, &o->sparsities, p, &layers[i]);
        if (!code)
            code = bench_network(request, layers, list->count, &progress, p * steps, report, count);
    }
    progress_clear(&progress);
    free(layers);
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

/* Real weights of more than one layer are a model's. */
static bool has_model(const struct problem_list *list)
{
    size_t layers = 0;
    for (size_t i = 0; i < list->count; i++)
        layers += list->items[i].weights != NULL;
    return layers > 1;
}

static int bench_list(struct bench_options *o, const struct bench_request *request,
                      struct problem_list *list)
{
    struct bench_count count = { 0 };
    struct report report;
    int code = o->weights ? read_weights(o, list) : EXIT_DONE;
    report_init(&report);
    report.is_explained = o->is_explained;
    report.has_verdict = has_model(list) && !o->is_graph;
    if (!code)
        code = bench_files_open(&o->files);
    if (!code)
        code = o->is_graph ? bench_networks(o, request, list, &report, &count)
                           : bench_layers(o, request, list, &report, &count);
    if (!code)
        code = bench_files_save(&o->files, &report, request->saved, count.measured > 0);
    bench_files_abandon(&o->files);
    report_free(&report);
    return code ? code : conclude(&count);
}

/* With the lists of choices that it may need. */
static int bench_input(struct bench_options *o, struct bench_request *request)
{
    const struct problems_request problems = { .arguments = &o->problems,
                                               .network = o->network,
                                               .all_layers = o->all_layers,
                                               .input_shape = o->input_shape,
                                               .folds = o->folds };
    struct choice_list loaded = { 0 }, saved = { 0 };
    struct problem_list list = { 0 };
    int code = o->load_choices ? choices_read(o->load_choices, &loaded) : EXIT_DONE;
    request->loaded = o->load_choices ? &loaded : NULL;
    request->saved = o->files.paths[BENCH_CHOICES] ? &saved : NULL;
    if (!code)
        code = problems_input(&problems, &list);
    if (!code)
        code = bench_list(o, request, &list);
    problem_list_clear(&list);
    choices_free(&loaded);
    choices_free(&saved);
    return code;
}

static int bench(struct bench_options *o, int *wanted)
{
    struct bench_request request = { .wanted = wanted,
                                     .threads = &o->threads,
                                     .seed = (uint64_t)o->seed,
                                     .min_time_s = o->min_time_s,
                                     .is_cold = o->is_cold,
                                     .is_one_sparsity = o->sparsities.count <= 1,
                                     .is_explained = o->is_explained,
                                     .is_tuned = o->is_tuned,
                                     .is_graph = o->is_graph };
    int code;
    if ((code = selection_usable_device(o->device, &request.device, &request.ordinal,
                                        &request.device_name)) ||
        (code = selection_mark_of(&o->algorithms, request.device, wanted)))
        return code;
    fprintf(stderr, "device: %s\n", request.device_name);
    if (o->is_graph && request.device == CSRCONV_DEVICE_CPU)
        fputs("warning: a CPU has no graphs: the layers run one behind the other\n", stderr);
    selection_warn_of_threads(request.device, &o->threads);
    return bench_input(o, &request);
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
