#include "reproduction.h"

#include "../complain.h"
#include "reproduction_parts.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

static const struct measurement *first_measurement(const struct reproduction *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->networks[i].report.count > 0)
            return &r->networks[i].report.results[0].measurement;
    return NULL;
}

/* The versions of the peers, each once. */
static void write_peer_versions(const struct report *report, FILE *stream)
{
    const struct reproduction_peers peers = reproduction_peers_of(report);
    fputs("- Peers: ", stream);
    for (size_t i = 0; i < peers.count; i++)
        for (size_t j = 0; j < report->count; j++) {
            const struct result *const result = &report->results[j];
            if (result->status != RESULT_MEASURED ||
                strcmp(result->measurement.algorithm, peers.names[i]) != 0)
                continue;
            fprintf(stream, "%s%s (%s)", i ? ", " : "", peers.names[i],
                    result->measurement.peer_version);
            break;
        }
    fputs(peers.count ? "\n" : "none\n", stream);
}

static void write_machine(const struct reproduction *r, const struct measurement *m, FILE *stream)
{
    fprintf(stream, "- Machine: %s; device %s", m->machine, m->device);
    if (*m->driver)
        fprintf(stream, ", driver %s", m->driver);
    fprintf(stream, "\n- csrconv %s, commit %s, %.10s\n", m->version, m->commit,
            r->networks[0].report.date);
    write_peer_versions(&r->networks[0].report, stream);
    fprintf(stream, "- Other processes took %.0f %% of a CPU meanwhile%s\n", r->taken * 100.0,
            r->taken > 0.1 ? ": measure again on a machine that is idle" : "");
}

static void write_protocol(const struct reproduction *r, FILE *stream)
{
    fputs("\nProtocol:\n\n"
          "1. Every result is verified against an oracle in double precision before it is timed; "
          "a wrong one has no time here.\n"
          "2. A time is one execute of the whole batch from plain NCHW float32 to plain NCHW "
          "float32, padding and layout passes of csrconv inside it; what depends on the weights "
          "alone is done before, for all.\n"
          "3. Algorithms take turns, one sample of some executes each, so that a drift of the "
          "machine meets all alike; ",
          stream);
    if (r->min_time_s > 0.0)
        fprintf(stream, "at least %g s of samples for each.\n", r->min_time_s);
    else
        fputs("30 samples each, fewer of slow ones.\n", stream);
    fputs(r->is_cpu
              ? "4. Medians, hot caches. oneDNN is timed in the layout it likes best, conversions "
                "left out.\n"
              : "4. Medians, hot caches, by events of the GPU around a CUDA graph of up to 20 "
                "executes, "
                "another replay of it queued before. Where a peer cannot be captured, its "
                "`peer_algorithm` in layers.csv says `no graph`.\n",
          stream);
    fputs("5. Sparsities and batches as published (unless the heading says another batch); the "
          "zeros are placed by a generator as uneven as real pruned layers, seed 1.\n",
          stream);
}

static void write_comparability(const struct reproduction *r, FILE *stream)
{
    fputs("\nThe paper of 2018 names neither its GPU nor its protocol. ", stream);
    if (r->is_cpu)
        fputs("This report was measured on a CPU, without a GPU: the published ranges beside the "
              "measured ones are a GPU's, and stand there to be seen, not to be matched. openblas "
              "(im2col and a dense product) is the peer that computes as its cuBLAS lowering did; "
              "no CPU peer computes as its cuSPARSE lowering.\n",
              stream);
    else
        fputs("The peers named `_caffe` compute image by image, as its code did: the published "
              "ranges stand beside them. The other peers are the same libraries at their best, "
              "which is the harder bar. `_tf32` and `_fp16` round their operands to 10 bits of "
              "mantissa; all others are fp32.\n",
              stream);
    fputs("\n\"csrconv's best\" is the fastest of its own algorithms, \\* where that is also the "
          "automatic choice; in the sums it is \"best sparse\". A gain above 1 "
          "means that csrconv is faster. \"of limit\" is ",
          stream);
    fputs(r->is_cpu ? "its multiply-adds, nonzeros only, as a part of the rate measured for "
                      "registers alone.\n"
                    : "the part of the highest floor that it reached: a load from shared memory "
                      "for each product, or tensors and weights once through the device's "
                      "memory, whichever takes longer.\n",
          stream);
}

static void write_setting(const struct analysis *analysis, size_t ordinal, const char *before,
                          FILE *stream)
{
    for (size_t i = 0; i < analysis->case_count; i++)
        if (analysis->cases[i].ordinal == ordinal) {
            char *const setting = show_setting(analysis->cases[i].key);
            fprintf(stream, "\n### %s%s\n\n", before, setting ? setting : "one setting");
            free(setting);
            return;
        }
}

static int write_network(const struct reproduction *r, const struct reproduction_network *network,
                         FILE *stream)
{
    const struct reproduction_peers peers = reproduction_peers_of(&network->report);
    struct analysis analysis;
    const int code = analyse(&network->report, &analysis);
    fprintf(stream, "\n## %s\n", network->name);
    for (size_t ordinal = 0; ordinal < analysis.ordinal_count && !code; ordinal++) {
        write_setting(&analysis, ordinal, "", stream);
        reproduction_layers(&analysis, ordinal, &peers, stream);
        reproduction_speed_ups(&analysis, ordinal, network->name, &peers,
                               ordinal < r->published_settings, stream);
        reproduction_totals(&analysis, ordinal, stream);
    }
    fprintf(stream, "\n![speed-ups of %s](%s)\n", network->name, network->chart);
    analysis_free(&analysis);
    return code;
}

static int has_ablation(const struct reproduction *r)
{
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->networks[i].ablation.count; j++)
            if (r->networks[i].ablation.results[j].status == RESULT_MEASURED)
                return 1;
    return 0;
}

static int write_ablation(const struct reproduction *r, FILE *stream)
{
    fputs("\n## What each choice of the fast kernels is worth\n\n", stream);
    if (!has_ablation(r)) {
        fputs("No kernel that makes them ran here.\n", stream);
        return EXIT_DONE;
    }
    fputs("One choice at a time is switched off; a number is the time without it over the time "
          "with it, so above 1 the choice pays. Each variant is verified like any algorithm.\n\n",
          stream);
    for (size_t i = 0; i < r->variant_count; i++)
        fprintf(stream, "- `%s`: %s\n", r->variants[i].name, r->variants[i].meaning);
    for (size_t i = 0; i < r->count; i++) {
        struct analysis analysis;
        char before[80];
        const int code = analyse(&r->networks[i].ablation, &analysis);
        snprintf(before, sizeof before, "%s, ", r->networks[i].name);
        for (size_t ordinal = 0; ordinal < analysis.ordinal_count && !code; ordinal++) {
            write_setting(&analysis, ordinal, before, stream);
            reproduction_ablation(&analysis, ordinal, r, stream);
        }
        analysis_free(&analysis);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static int is_same_gap(const struct result *a, const struct result *b)
{
    return a->status == b->status && strcmp(a->reason, b->reason) == 0 &&
           strcmp(a->measurement.algorithm, b->measurement.algorithm) == 0;
}

/* What has no time, and why; alike ones once. Returns how many lines. */
static size_t write_gaps(const struct report *report, FILE *stream)
{
    size_t lines = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct result *const gap = &report->results[i];
        size_t alike = 0, first = report->count;
        if (gap->status == RESULT_MEASURED)
            continue;
        for (size_t j = 0; j < report->count; j++)
            if (is_same_gap(&report->results[j], gap)) {
                first = alike == 0 ? j : first;
                alike++;
            }
        if (first != i)
            continue;
        lines++;
        fprintf(stream, "- %s %s %zu results, %s first: %s\n", gap->measurement.algorithm,
                gap->status == RESULT_FAILED ? "FAILED" : "refused", alike,
                layer_name(&gap->measurement), gap->reason);
    }
    return lines;
}

static void write_all_gaps(const struct reproduction *r, FILE *stream)
{
    size_t lines = 0;
    fputs("\n## Not measured\n\n", stream);
    for (size_t i = 0; i < r->count; i++)
        lines += write_gaps(&r->networks[i].report, stream) +
                 write_gaps(&r->networks[i].ablation, stream);
    if (lines == 0)
        fputs("Everything was.\n", stream);
}

int reproduction_write(const struct reproduction *r, FILE *stream)
{
    const struct measurement *const first = first_measurement(r);
    int code = EXIT_DONE;
    if (!first)
        return complain(EXIT_WRONG, "report", "there is no result to write");
    fputs("# Pruned networks: the published tables, measured again\n\n", stream);
    write_machine(r, first, stream);
    write_protocol(r, stream);
    write_comparability(r, stream);
    for (size_t i = 0; i < r->count && !code; i++)
        code = write_network(r, &r->networks[i], stream);
    fputs("\n## Whole networks\n\n![totals](totals.svg)\n", stream);
    if (!code && r->variant_count > 0)
        code = write_ablation(r, stream);
    write_all_gaps(r, stream);
    fputs("\nThe measurements are in `layers.csv` and `ablation.csv`.\n", stream);
    return code;
}
