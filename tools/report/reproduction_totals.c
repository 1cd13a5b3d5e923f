#include "reproduction_parts.h"

#include "../complain.h"
#include "markdown.h"
#include "show.h"
#include "statistics.h"
#include "text.h"
#include "totals.h"

#include <stdlib.h>
#include <string.h>

/* Speed-ups over lowering with cuBLAS and with cuSPARSE, as the paper of 2018 has them. */
static const struct {
    const char *network, *over_gemm, *over_spmm;
} published[] = {
    { "alexnet", "1.07-1.23 (cuBLAS lowering)", "1.31-1.42 (cuSPARSE lowering)" },
    { "googlenet", "1.17-3.51 (cuBLAS lowering)", "1.09-2.00 (cuSPARSE lowering)" },
    { "resnet50", "1.32-5.00 (cuBLAS lowering)", "1.07-3.22 (cuSPARSE lowering)" },
};

/* What was published for a peer that computes alike: image by image lowered, and GEMM or SpMM. */
static const char *published_of(const char *network, const char *peer)
{
    const int is_gemm = strcmp(peer, "openblas") == 0 || strcmp(peer, "cublas_caffe") == 0;
    const int is_spmm = strcmp(peer, "cusparse_caffe") == 0;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (strcmp(network, published[i].network) == 0)
            return is_gemm ? published[i].over_gemm : is_spmm ? published[i].over_spmm : "-";
    return "-";
}

/* Over the layers where both were measured. */
struct gains {
    size_t layers;
    double least, most;
    struct geometric_mean mean;
    double own_us, peer_us;
};

/* A peer by its name, or what pick takes of each layer. */
struct rival {
    const char *name;
    const struct result *(*pick)(const struct report_case *subject); /* NULL: the peer */
};

static const struct result *result_of(const struct rival *rival, const struct report_case *subject)
{
    return rival->pick ? rival->pick(subject) : case_result(subject, rival->name);
}

static struct gains gains_of(const struct analysis *analysis, size_t ordinal,
                             const struct rival *rival)
{
    struct gains gains = { 0 };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        const struct result *const own = case_best_sparse(subject);
        const struct result *const peer = result_of(rival, subject);
        const double gain = speed_up(own, peer);
        if (subject->ordinal != ordinal || !own || !peer)
            continue;
        gains.least = gains.layers == 0 || gain < gains.least ? gain : gains.least;
        gains.most = gain > gains.most ? gain : gains.most;
        gains.layers++;
        gains.own_us += own->measurement.median_us;
        gains.peer_us += peer->measurement.median_us;
        geometric_mean_add(&gains.mean, gain);
    }
    return gains;
}

static void write_gains(const struct gains *gains, const char *name, const char *published_range,
                        FILE *stream)
{
    if (gains->layers == 0)
        return;
    markdown_cell(stream, "%s", name);
    markdown_cell(stream, "%s", published_range);
    markdown_cell(stream, "%zu", gains->layers);
    markdown_cell(stream, "%.2f-%.2f", gains->least, gains->most);
    markdown_cell(stream, "%s", show_times(geometric_mean_value(&gains->mean)).text);
    markdown_cell(stream, "%s", show_times(gains->peer_us / gains->own_us).text);
    markdown_end_row(stream);
}

/* Against the fastest peer of each layer: the bar that is left when all choose well. */
static void write_best_gains(const struct analysis *analysis, size_t ordinal, FILE *stream)
{
    const struct rival in_fp32 = { NULL, case_best_fp32_peer }, in_any = { NULL, case_best_peer };
    const struct gains fp32 = gains_of(analysis, ordinal, &in_fp32);
    const struct gains any = gains_of(analysis, ordinal, &in_any);
    write_gains(&fp32, "the fastest fp32 peer of each layer", "-", stream);
    if (any.peer_us < fp32.peer_us || fp32.layers == 0)
        write_gains(&any, "the fastest peer of each layer, in any arithmetic", "-", stream);
}

void reproduction_speed_ups(const struct analysis *analysis, size_t ordinal, const char *network,
                            const struct reproduction_peers *peers, int is_published, FILE *stream)
{
    if (!peers->count) {
        fputs("\nNo peer was measured to compare with.\n", stream);
        return;
    }
    fputs("\n| speed-up over | published in 2018, on a GPU | layers | measured, least to most | "
          "geometric mean | by the sums |\n",
          stream);
    markdown_rule(stream, 2, 4);
    for (size_t i = 0; i < peers->count; i++) {
        const struct rival rival = { peers->names[i], NULL };
        const struct gains gains = gains_of(analysis, ordinal, &rival);
        write_gains(&gains, rival.name, is_published ? published_of(network, rival.name) : "-",
                    stream);
    }
    if (peers->count > 1)
        write_best_gains(analysis, ordinal, stream);
}

static void write_total(const struct total *total, FILE *stream)
{
    const double over_dense = total_over_dense(total);
    const double mean = geometric_mean_value(&total->over_dense);
    markdown_cell(stream, "%s", total->name);
    markdown_cell(stream, "%s", show_number(total->sum_us * 1e-3).text);
    markdown_cell(stream, "%zu", total->layers);
    markdown_cell(stream, "%s", over_dense > 0.0 ? show_times(over_dense).text : "-");
    markdown_cell(stream, "%s", mean > 0.0 ? show_times(mean).text : "-");
    markdown_cell(stream, "%zu", total->won);
    markdown_end_row(stream);
}

void reproduction_totals(const struct analysis *analysis, size_t ordinal, FILE *stream)
{
    const struct totals totals = totals_of(analysis, ordinal);
    fputs("\n| pruned layers together | sum ms | layers | vs best dense, by the sums | geometric "
          "mean | fastest on |\n",
          stream);
    markdown_rule(stream, 1, 5);
    for (size_t i = 0; i < totals.count; i++)
        write_total(&totals.rows[i], stream);
}

/* ------------------------------------------------------------------------------ as one layer */

/* Of all weights of the layers together. */
static double sparsity_of(const struct analysis *analysis, size_t ordinal)
{
    double nonzeros = 0.0, weights = 0.0;
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct measurement *const key = analysis->cases[i].key;
        if (analysis->cases[i].ordinal != ordinal)
            continue;
        nonzeros += (double)key->nnz;
        weights += (double)key->nnz / (1.0 - key->sparsity);
    }
    return weights > 0.0 ? 1.0 - nonzeros / weights : 0.0;
}

static const char best_sparse[] = "best sparse";

/* The name in the chart; NULL: it is not shown. */
static const char *charted_name(const struct total *total)
{
    const struct result *const example = total->example;
    const int is_algorithm = strcmp(total->name, example->measurement.algorithm) == 0;
    if (strcmp(example->measurement.device, "cpu") == 0)
        return total->name;
    if (strcmp(total->name, best_sparse) == 0)
        return "csrconv";
    return is_algorithm && example->is_peer ? total->name : NULL;
}

static int add_total(const struct total *total, const char *name, double sparsity,
                     struct report *report)
{
    struct result result = *total->example;
    result.measurement.name = result.measurement.problem = name;
    result.measurement.pattern = "";
    result.measurement.sparsity = sparsity;
    result.measurement.algorithm = charted_name(total);
    result.measurement.chosen = strcmp(total->name, "automatic choice") == 0;
    result.measurement.median_us = total->sum_us;
    return report_add(report, &result);
}

static int add_totals(const struct analysis *analysis, size_t ordinal, const char *network,
                      struct report *report)
{
    const size_t layers = totals_layers(analysis, ordinal);
    const struct totals totals = totals_of(analysis, ordinal);
    const double sparsity = sparsity_of(analysis, ordinal);
    char *const name = text_format("%s: %zu pruned layers", network, layers);
    int code = EXIT_DONE;
    for (size_t i = 0; i < totals.count && !code; i++)
        if (totals.rows[i].layers == layers && charted_name(&totals.rows[i]))
            code = add_total(&totals.rows[i], name ? name : network, sparsity, report);
    free(name);
    return code;
}

int reproduction_add_totals(const struct reproduction_network *network, struct report *report)
{
    struct analysis analysis;
    int code = analyse(&network->report, &analysis);
    for (size_t ordinal = 0; ordinal < analysis.ordinal_count && !code; ordinal++)
        code = add_totals(&analysis, ordinal, network->name, report);
    analysis_free(&analysis);
    return code;
}
