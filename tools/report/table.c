/* The report for people: a table per case, then where each layer pays, then totals. */
#include "report_format.h"

#include "../complain.h"
#include "analysis.h"
#include "show.h"
#include "text.h"
#include "text_grid.h"
#include "totals.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Columns beside those of the peers. */
enum { OTHER_COLUMNS = 11, MOST_PEERS = TEXT_GRID_COLUMNS - OTHER_COLUMNS };

struct peers {
    const struct result *results[MOST_PEERS];
    size_t count;
};

static struct peers peers_of(const struct report_case *subject)
{
    struct peers peers = { .count = 0 };
    for (size_t i = 0; i < subject->count; i++)
        if (subject->results[i]->is_peer && subject->results[i]->status == RESULT_MEASURED &&
            peers.count < MOST_PEERS)
            peers.results[peers.count++] = subject->results[i];
    return peers;
}

static bool has_layers(const struct report_case *subject)
{
    bool has_any = false;
    for (size_t i = 0; i < subject->count; i++)
        has_any = has_any || subject->results[i]->layers_us > 0.0;
    return has_any;
}

static void add_columns(struct text_grid *grid, const struct peers *peers, bool has_sum)
{
    text_grid_column(grid, 'l', "algorithm");
    text_grid_column(grid, 'r', "median us");
    text_grid_column(grid, 'r', "min us");
    text_grid_column(grid, 'r', "prepare us");
    text_grid_column(grid, 'r', "plan us");
    text_grid_column(grid, 'r', "estimate us");
    if (has_sum)
        text_grid_column(grid, 'r', "sum of layers us");
    text_grid_column(grid, 'r', "GFLOP/s");
    text_grid_column(grid, 'r', "dense GFLOP/s");
    for (size_t i = 0; i < peers->count; i++) {
        char *const heading = text_format("vs %s", peers->results[i]->measurement.algorithm);
        text_grid_column(grid, 'r', heading ? heading : "vs peer");
        free(heading);
    }
    text_grid_column(grid, 'l', "math");
    text_grid_column(grid, 'l', "verified");
}

/* "-" where there is no such time. */
static void add_known(struct text_grid *grid, double us)
{
    text_grid_add(grid, "%s", us > 0.0 ? show_number(us).text : "-");
}

static void add_measured(struct text_grid *grid, const struct result *result,
                         const struct peers *peers, bool has_sum)
{
    const struct measurement *const m = &result->measurement;
    text_grid_add(grid, "%s", show_number(m->median_us).text);
    text_grid_add(grid, "%s", show_number(m->min_us).text);
    text_grid_add(grid, "%s", show_number(m->prepare_us).text);
    text_grid_add(grid, "%s", show_number(m->plan_us).text);
    add_known(grid, result->estimate_us);
    if (has_sum)
        add_known(grid, result->layers_us);
    text_grid_add(grid, "%s", show_number(m->gflops_nnz).text);
    text_grid_add(grid, "%s", show_number(m->gflops_dense).text);
    for (size_t i = 0; i < peers->count; i++)
        text_grid_add(grid, "%s", show_times(speed_up(result, peers->results[i])).text);
    text_grid_add(grid, "%s", m->math);
    text_grid_add(grid, "%s", m->verified);
}

static void add_unmeasured(struct text_grid *grid, const struct result *result)
{
    char *const text = text_format("%s: %s", result->status == RESULT_FAILED ? "FAILED" : "skipped",
                                   result->reason);
    text_grid_end_row(grid, text ? text : "");
    free(text);
}

/* How each algorithm went about it, and what part of the peak or of its floors it reached. */
static void write_explanation(const struct report_case *subject, FILE *stream)
{
    for (size_t i = 0; i < subject->count; i++) {
        const struct result *const result = subject->results[i];
        const struct measurement *const m = &result->measurement;
        const double gflops = result->is_dense ? m->gflops_dense : m->gflops_nnz;
        if (result->status != RESULT_MEASURED)
            continue;
        fprintf(stream, "  %s: %s", m->algorithm, *result->detail ? result->detail : "-");
        if (result->peak_gflops > 0.0)
            fprintf(stream,
                    "; %.0f %% of the multiply-add peak of %s GFLOP/s, whose floor is %s us",
                    gflops / result->peak_gflops * 100.0, show_number(result->peak_gflops).text,
                    show_number(m->median_us * gflops / result->peak_gflops).text);
        if (floors_highest_us(&result->floors) > 0.0) {
            fputs("; ", stream);
            floors_explain(&result->floors, m->median_us, stream);
        }
        fputc('\n', stream);
    }
}

static int write_case(const struct report_case *subject, int is_explained, FILE *stream)
{
    const struct measurement *const key = subject->key;
    char *const setting = show_setting(key);
    fprintf(stream, "%s", layer_name(key));
    if (*key->name && strcmp(key->name, key->problem) != 0)
        fprintf(stream, "  %s", key->problem);
    fprintf(stream, "\n%s; %s zeros, %" PRId64 " nonzeros (%s)\n", setting ? setting : "",
            show_percent(key->sparsity).text, key->nnz, key->pattern);
    free(setting);
    const struct peers peers = peers_of(subject);
    const bool has_sum = has_layers(subject);
    struct text_grid grid = { 0 };
    add_columns(&grid, &peers, has_sum);
    for (size_t i = 0; i < subject->count; i++) {
        const struct result *const result = subject->results[i];
        text_grid_add(&grid, "%s%s", result->measurement.algorithm,
                      result->measurement.chosen ? " *" : "");
        if (result->status == RESULT_MEASURED)
            add_measured(&grid, result, &peers, has_sum);
        else
            add_unmeasured(&grid, result);
    }
    const int code = text_grid_print(&grid, stream);
    if (is_explained)
        write_explanation(subject, stream);
    fputc('\n', stream);
    return code;
}

static void write_sentence(const struct report_series *series, FILE *stream)
{
    const struct measurement *const key = series->cases[0]->key;
    char *const sentence = show_payoff(series);
    char *const setting = series->is_only_one ? NULL : show_setting(key);
    fprintf(stream, "%s", layer_name(key));
    if (setting)
        fprintf(stream, " (%s)", setting);
    fprintf(stream, ": %s\n", sentence ? sentence : "-");
    free(sentence);
    free(setting);
}

static int write_all(const struct analysis *analysis, const struct report *report, FILE *stream)
{
    fputs(
        "GFLOP/s count the nonzeros, dense GFLOP/s the zeros too; * marks the automatic choice\n\n",
        stream);
    for (size_t i = 0; i < analysis->case_count; i++) {
        const int code = write_case(&analysis->cases[i], report->is_explained, stream);
        if (code != EXIT_DONE)
            return code;
    }
    for (size_t i = 0; i < analysis->series_count; i++)
        write_sentence(&analysis->series[i], stream);
    const int code = totals_write(analysis, stream);
    if (code == EXIT_DONE && report->has_verdict)
        verdict_write(analysis, stream);
    return code;
}

static int write_table(const struct report *report, FILE *stream)
{
    struct analysis analysis;
    int code = analyse(report, &analysis);
    if (code == EXIT_DONE && analysis.case_count > 0)
        code = write_all(&analysis, report, stream);
    analysis_free(&analysis);
    return code;
}

const struct report_format report_format_table = { "table", write_table };
