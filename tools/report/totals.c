#include "totals.h"

#include "../complain.h"
#include "show.h"
#include "statistics.h"
#include "text_grid.h"

#include <stdlib.h>
#include <string.h>

/* A row: an algorithm by its name, or what pick takes of each layer. */
typedef const struct result *pick_result(const struct report_case *subject);

struct contender {
    const char *name;
    pick_result *pick; /* NULL: the algorithm of that name */
};

static const struct contender automatic = { "automatic choice", case_chosen };
static const struct contender best_sparse = { "best sparse", case_best_sparse };
static const struct contender best_dense = { "best dense", case_best_dense };

static const struct result *pick(const struct contender *contender,
                                 const struct report_case *subject)
{
    return contender->pick ? contender->pick(subject) : case_result(subject, contender->name);
}

static void count_case(struct total *total, const struct report_case *subject,
                       const struct result *result)
{
    const struct result *const dense = case_best_dense(subject);
    total->example = result;
    total->layers++;
    total->sum_us += result->measurement.median_us;
    total->won += result == case_fastest(subject);
    if (!dense)
        return;
    geometric_mean_add(&total->over_dense, speed_up(result, dense));
    total->compared_us += result->measurement.median_us;
    total->dense_us += dense->measurement.median_us;
    total->ahead += speed_up(result, dense) > 1.0;
}

static struct total total_of(const struct analysis *analysis, size_t ordinal,
                             const struct contender *contender)
{
    struct total total = { .name = contender->name };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        const struct result *const result =
            subject->ordinal == ordinal ? pick(contender, subject) : NULL;
        if (result)
            count_case(&total, subject, result);
    }
    return total;
}

static void add_total(struct totals *totals, const struct analysis *analysis, size_t ordinal,
                      const struct contender *contender)
{
    const struct total total = total_of(analysis, ordinal, contender);
    if (total.layers > 0 && totals->count < TOTALS_MOST)
        totals->rows[totals->count++] = total;
}

static int has_row(const struct totals *totals, const char *algorithm)
{
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(totals->rows[i].name, algorithm) == 0)
            return 1;
    return 0;
}

struct totals totals_of(const struct analysis *analysis, size_t ordinal)
{
    struct totals totals = { .count = 0 };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        for (size_t j = 0; subject->ordinal == ordinal && j < subject->count; j++) {
            const struct contender by_name = { subject->results[j]->measurement.algorithm, NULL };
            if (!has_row(&totals, by_name.name))
                add_total(&totals, analysis, ordinal, &by_name);
        }
    }
    add_total(&totals, analysis, ordinal, &automatic);
    add_total(&totals, analysis, ordinal, &best_sparse);
    add_total(&totals, analysis, ordinal, &best_dense);
    return totals;
}

double total_over_dense(const struct total *total)
{
    return total->over_dense.count ? total->dense_us / total->compared_us : 0.0;
}

static struct shown show_gain(double gain)
{
    return gain > 0.0 ? show_times(gain) : (struct shown){ "-" };
}

static void add_row(struct text_grid *grid, const struct total *total)
{
    text_grid_add(grid, "%s", total->name);
    text_grid_add(grid, "%s", show_number(total->sum_us).text);
    text_grid_add(grid, "%zu", total->layers);
    text_grid_add(grid, "%s", show_gain(total_over_dense(total)).text);
    text_grid_add(grid, "%s", show_gain(geometric_mean_value(&total->over_dense)).text);
    text_grid_add(grid, "%zu", total->won);
}

static const char *if_same(const char *text, int is_same, const char *otherwise)
{
    return is_same ? text : otherwise;
}

static void write_heading(const struct analysis *analysis, size_t ordinal, size_t layers,
                          FILE *stream)
{
    const struct measurement *first = NULL;
    const double sparsity = analysis_sparsity(analysis, ordinal);
    int same_setting = 1;
    char *setting = NULL;
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct measurement *const key = analysis->cases[i].key;
        if (analysis->cases[i].ordinal != ordinal)
            continue;
        char *const other = show_setting(key);
        if (!first) {
            first = key;
            setting = other;
            continue;
        }
        same_setting &= setting && other && strcmp(setting, other) == 0;
        free(other);
    }
    fprintf(stream, "\n%zu layers, %s, %s\n", layers,
            if_same(setting, same_setting && setting, "each with its own batch"),
            if_same(show_percent(sparsity).text, sparsity >= 0.0, "each at its own sparsity"));
    free(setting);
}

static void write_sentence(const struct analysis *analysis, size_t ordinal, FILE *stream)
{
    const struct total total = total_of(analysis, ordinal, &best_sparse);
    if (total.over_dense.count == 0)
        return;
    fprintf(
        stream,
        "in all: %s over the best dense by the sums, %s by the geometric mean, faster on %zu of "
        "%zu layers\n",
        show_times(total.dense_us / total.compared_us).text,
        show_times(geometric_mean_value(&total.over_dense)).text, total.ahead,
        total.over_dense.count);
}

size_t totals_layers(const struct analysis *analysis, size_t ordinal)
{
    size_t layers = 0;
    for (size_t i = 0; i < analysis->case_count; i++)
        layers += analysis->cases[i].ordinal == ordinal;
    return layers;
}

int totals_write(const struct analysis *analysis, FILE *stream)
{
    for (size_t ordinal = 0; ordinal < analysis->ordinal_count; ordinal++) {
        const size_t layers = totals_layers(analysis, ordinal);
        if (layers < 2)
            continue;
        write_heading(analysis, ordinal, layers, stream);
        struct text_grid grid = { 0 };
        text_grid_column(&grid, 'l', "algorithm");
        text_grid_column(&grid, 'r', "sum of medians us");
        text_grid_column(&grid, 'r', "layers");
        text_grid_column(&grid, 'r', "vs best dense");
        text_grid_column(&grid, 'r', "geometric mean");
        text_grid_column(&grid, 'r', "fastest on");
        const struct totals totals = totals_of(analysis, ordinal);
        for (size_t i = 0; i < totals.count; i++)
            add_row(&grid, &totals.rows[i]);
        const int code = text_grid_print(&grid, stream);
        if (code != EXIT_DONE)
            return code;
        write_sentence(analysis, ordinal, stream);
    }
    return EXIT_DONE;
}
