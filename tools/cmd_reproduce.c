/* csrconv reproduce: the published tables of pruned networks, measured again on this machine. */
#include "bench.h"
#include "command.h"
#include "complain.h"
#include "options.h"
#include "report/progress.h"
#include "reproduce_files.h"
#include "runner/ablation.h"
#include "runner/machine.h"
#include "selection.h"

#include "algorithm.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: csrconv reproduce --out DIR [OPTION ...]\n"
    "\n"
    "Measures the pruned layers of AlexNet, GoogLeNet and ResNet-50 at the published sparsities "
    "and\n"
    "batches, every result verified, and writes into DIR, which is made if it is missing:\n"
    "\n"
    "  report.md             tables, totals, the published ranges beside the measured ones, and\n"
    "                        what each choice of the fast kernels is worth\n"
    "  layers.csv ablation.csv       the measurements\n"
    "  speed-up-NETWORK.svg totals.svg\n"
    "\n"
    "  --out DIR\n"
    "  --network NAME,..     or FILE.csv (alexnet,googlenet,resnet50)\n"
    "  --device auto|cpu|cuda[:N]\n"
    "  --batch N             (the published one; on a GPU also 1)\n"
    "  --threads T[,T..]     0 = all (0)\n"
    "  --min-time S          seconds of samples for each algorithm at least (0.5); 0: 30 samples\n"
    "\n"
    "Exit 0; 1 if a result was wrong; 3 if a layer ran nowhere.\n"
    "\n"
    "examples:\n"
    "  csrconv reproduce --out tables\n"
    "  csrconv reproduce --out alexnet-1 --network alexnet --batch 1 --threads 1\n";

struct reproduce_options {
    const char *out, *device;
    struct text_list networks;
    struct whole_list threads;
    int64_t batch; /* 0: the published one */
    double min_time_s;
};

static int parse(int argc, char **argv, struct reproduce_options *o)
{
    const struct option_spec specs[] = {
        { .name = "out", .kind = OPTION_TEXT, .value = &o->out },
        { .name = "network", .kind = OPTION_TEXTS, .value = &o->networks },
        { .name = "device", .kind = OPTION_TEXT, .value = &o->device },
        { .name = "batch",
          .kind = OPTION_WHOLE,
          .value = &o->batch,
          .least = 1,
          .most = INT64_MAX },
        { .name = "threads",
          .kind = OPTION_WHOLES,
          .value = &o->threads,
          .least = 0,
          .most = 4096 },
        { .name = "min-time",
          .kind = OPTION_REAL,
          .value = &o->min_time_s,
          .low = 0,
          .below = 1e6 },
        { 0 },
    };
    int code = options_parse(&command_reproduce, specs, argc, argv, NULL);
    if (!code && !o->out)
        code = complain(EXIT_BAD, "reproduce", "needs --out DIR; --help has examples");
    if (!code && !o->networks.count)
        code = number_texts("--network", "alexnet,googlenet,resnet50", &o->networks);
    if (!code && o->networks.count > REPRODUCE_NETWORKS)
        code = complain(EXIT_BAD, "--network", "%zu networks, at most %d at once",
                        o->networks.count, REPRODUCE_NETWORKS);
    return code;
}

/* ----------------------------------------------------------------------------- what is measured */

/* The networks, their layers, and what is measured of them. */
struct work {
    struct reproduction_network networks[REPRODUCE_NETWORKS];
    struct problem_list layers[REPRODUCE_NETWORKS];
    const csrconv_algorithm *const *ablation;
    struct reproduction_variant variants[8]; /* of it */
    struct reproduction reproduction;
    int *wanted, *unwanted; /* by index of selection_algorithm */
    struct bench_count count, ablation_count;
};

/* A network is called as its layers are: network:layer. Its chart's name has plain characters. */
static void name_network(const struct problem_list *layers, struct reproduction_network *network)
{
    const char *const name = layers->items[0].name;
    snprintf(network->name, sizeof network->name, "%.*s", (int)strcspn(name, ":"), name);
    snprintf(network->chart, sizeof network->chart, "speed-up-%s.svg", network->name);
    for (char *at = network->chart; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-' && *at != '.')
            *at = '_';
}

static int load_network(const char *argument, struct work *work, size_t index)
{
    const struct text_list none = { 0 };
    const struct problems_request request = { .arguments = &none, .network = argument };
    struct reproduction_network *const network = &work->networks[index];
    const int code = problems_input(&request, &work->layers[index]);
    if (code)
        return code;
    name_network(&work->layers[index], network);
    report_init(&network->report);
    report_init(&network->ablation);
    for (size_t i = 0; i < index; i++)
        if (strcmp(work->networks[i].chart, network->chart) == 0)
            return complain(EXIT_BAD, "--network", "%s is there twice", network->name);
    return EXIT_DONE;
}

/*
 * All but csrconv's plain kernel where it has some with vectors: that one is there to be read, and
 * takes long.
 */
static void mark_wanted(int *wanted)
{
    const int count = selection_count();
    bool has_vectors = false;
    for (int i = 0; i < count; i++)
        has_vectors = has_vectors || selection_algorithm(i)->lanes;
    for (int i = 0; i < count; i++) {
        const struct csrconv_algorithm *const a = selection_algorithm(i);
        wanted[i] =
            !has_vectors || a->lanes || a->info.is_peer || a->info.device != CSRCONV_DEVICE_CPU;
    }
}

static int prepare(const struct reproduce_options *o, csrconv_device device, struct work *work)
{
    struct reproduction *const r = &work->reproduction;
    int code = EXIT_DONE;
    work->wanted = calloc((size_t)selection_count(), sizeof *work->wanted);
    work->unwanted = calloc((size_t)selection_count(), sizeof *work->unwanted);
    if (!work->wanted || !work->unwanted)
        return complain(EXIT_WRONG, "memory", "no room for the list of algorithms");
    for (size_t i = 0; i < o->networks.count && !code; i++)
        code = load_network(o->networks.items[i], work, i);
    mark_wanted(work->wanted);
    r->networks = work->networks;
    r->count = o->networks.count;
    r->variants = work->variants;
    r->is_cpu = device == CSRCONV_DEVICE_CPU;
    if (!o->batch)
        r->published_settings = r->is_cpu && o->threads.count ? o->threads.count : 1;
    r->min_time_s = o->min_time_s;
    work->ablation = ablation_table(device);
    for (int i = 0; work->ablation[i]; i++) {
        const csrconv_algorithm_info *const info = &work->ablation[i]->info;
        work->variants[r->variant_count++] =
            (struct reproduction_variant){ info->name, info->summary };
    }
    return code;
}

/* ------------------------------------------------------------------------------------ measuring */

/* At batch 0 it is the published one. */
static int point_of(const struct problem *layer, int64_t batch, struct problem_point *point)
{
    const struct real_list published = { 0 };
    struct whole_list batches = { 0 };
    if (batch)
        batches = (struct whole_list){ .items = &batch, .count = 1 };
    return problem_point(layer, &batches, &published, 0, point);
}

/* The algorithms, then the variants. */
static int measure_point(const struct bench_request *request, const struct problem_point *point,
                         struct work *work, struct reproduction_network *network)
{
    struct bench_request ablation = *request;
    int code = bench_point(request, point, &network->report, &work->count);
    ablation.wanted = work->unwanted;
    ablation.variants = work->ablation;
    ablation.is_explained = false;
    if (!code && work->reproduction.variant_count)
        code = bench_point(&ablation, point, &network->ablation, &work->ablation_count);
    return code;
}

/* On a GPU at batch 1 too, which is another problem there: it does not fill the chip. */
static int measure_layer(const struct reproduce_options *o, const struct bench_request *request,
                         const struct problem *layer, struct work *work,
                         struct reproduction_network *network)
{
    const bool is_also_at_1 = !o->batch && request->device == CSRCONV_DEVICE_CUDA;
    struct problem_point point;
    int code = point_of(layer, o->batch, &point);
    if (!code)
        code = measure_point(request, &point, work, network);
    if (code || !is_also_at_1 || point.geometry.batch == 1)
        return code;
    code = point_of(layer, 1, &point);
    return code ? code : measure_point(request, &point, work, network);
}

static int measure(const struct reproduce_options *o, const struct bench_request *request,
                   struct work *work)
{
    const struct machine_use start = machine_use_now();
    struct progress progress;
    int64_t all = 0, done = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; i < work->reproduction.count; i++)
        all += (int64_t)work->layers[i].count;
    progress = progress_start(stderr, all);
    for (size_t i = 0; i < work->reproduction.count; i++)
        for (size_t j = 0; j < work->layers[i].count && !code; j++) {
            const struct problem *const layer = &work->layers[i].items[j];
            progress_show(&progress, done++, layer->name);
            code = measure_layer(o, request, layer, work, &work->networks[i]);
        }
    progress_clear(&progress);
    work->reproduction.taken = machine_taken_since(&start);
    return code;
}

static int conclude(const struct work *work)
{
    const int64_t failed = work->count.failed + work->ablation_count.failed;
    if (failed)
        return complain(EXIT_WRONG, "reproduce", "%" PRId64 " results were wrong or missing",
                        failed);
    if (work->count.idle)
        return complain(EXIT_REFUSED, "reproduce", "nothing ran for %" PRId64 " of the layers",
                        work->count.idle);
    return EXIT_DONE;
}

static int reproduce(const struct reproduce_options *o, struct work *work)
{
    struct bench_request request = {
        .threads = &o->threads, .seed = 1, .min_time_s = o->min_time_s, .is_explained = true
    };
    struct reproduce_files files = { 0 };
    int code;
    if ((code = selection_usable_device(o->device, &request.device, &request.ordinal,
                                        &request.device_name)) ||
        (code = prepare(o, request.device, work)))
        return code;
    request.wanted = work->wanted;
    fprintf(stderr, "device: %s\n", request.device_name);
    selection_warn_of_threads(request.device, &o->threads);
    code = reproduce_files_open(o->out, &work->reproduction, &files);
    if (!code)
        code = measure(o, &request, work);
    if (!code && work->count.measured)
        code = reproduce_files_save(&work->reproduction, &files);
    reproduce_files_abandon(&files);
    return code ? code : conclude(work);
}

static void work_free(struct work *work)
{
    for (size_t i = 0; i < REPRODUCE_NETWORKS; i++) {
        report_free(&work->networks[i].report);
        report_free(&work->networks[i].ablation);
        problem_list_clear(&work->layers[i]);
    }
    free(work->wanted);
    free(work->unwanted);
}

static int run(int argc, char **argv)
{
    static struct work work;
    struct reproduce_options options = { .device = "auto", .min_time_s = 0.5 };
    int code = parse(argc, argv, &options);
    if (!code)
        code = reproduce(&options, &work);
    work_free(&work);
    text_list_free(&options.networks);
    whole_list_free(&options.threads);
    return code;
}

const struct command command_reproduce = {
    .name = "reproduce",
    .summary = "measure the published tables again, into a folder",
    .help = help,
    .run = run,
};
