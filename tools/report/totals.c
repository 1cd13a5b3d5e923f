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

/* Where it ran, and where a dense algorithm ran beside it. */
struct total {
    double sum_us;
    size_t layers, won;
    struct geometric_mean over_dense;
    double compared_us, dense_us; /* sums over the layers with both */
    size_t ahead;                 /* of dense */
};

static struct total total_of(const struct analysis *analysis, size_t ordinal,
                             const struct contender *contender)
{
    struct total total = { 0 };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        const struct result *const result =
            subject->ordinal == ordinal ? pick(contender, subject) : NULL;
        if (!result)
            continue;
        total.layers++;
        total.sum_us += result->measurement.median_us;
        total.won += result == case_fastest(subject);
        const struct result *const dense = case_best_dense(subject);
        if (!dense)
            continue;
        geometric_mean_add(&total.over_dense, speed_up(result, dense));
        total.compared_us += result->measurement.median_us;
        total.dense_us += dense->measurement.median_us;
        total.ahead += speed_up(result, dense) > 1.0;
    }
    return total;
}

static void add_row(struct text_grid *grid, const struct analysis *analysis, size_t ordinal,
                    const struct contender *contender)
{
    const struct total total = total_of(analysis, ordinal, contender);
    if (total.layers == 0)
        return;
    text_grid_add(grid, "%s", contender->name);
    text_grid_add(grid, "%s", show_number(total.sum_us).text);
    text_grid_add(grid, "%zu", total.layers);
    text_grid_add(grid, "%s",
                  total.over_dense.count ? show_times(total.dense_us / total.compared_us).text
                                         : "-");
    text_grid_add(grid, "%s",
                  total.over_dense.count ? show_times(geometric_mean_value(&total.over_dense)).text
                                         : "-");
    text_grid_add(grid, "%zu", total.won);
}

/* Whether an earlier result of the same setting has the same algorithm, and so its row. */
static int has_row(const struct analysis *analysis, size_t ordinal, const struct result *result)
{
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        for (size_t j = 0; subject->ordinal == ordinal && j < subject->count; j++) {
            if (subject->results[j] == result)
                return 0;
            if (strcmp(subject->results[j]->measurement.algorithm, result->measurement.algorithm) ==
                0)
                return 1;
        }
    }
    return 0;
}

static void add_rows(struct text_grid *grid, const struct analysis *analysis, size_t ordinal)
{
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        for (size_t j = 0; subject->ordinal == ordinal && j < subject->count; j++) {
            const struct contender by_name = { subject->results[j]->measurement.algorithm, NULL };
            if (!has_row(analysis, ordinal, subject->results[j]))
                add_row(grid, analysis, ordinal, &by_name);
        }
    }
    add_row(grid, analysis, ordinal, &automatic);
    add_row(grid, analysis, ordinal, &best_sparse);
    add_row(grid, analysis, ordinal, &best_dense);
}

static const char *if_same(const char *text, int is_same, const char *otherwise)
{
    return is_same ? text : otherwise;
}

static void write_heading(const struct analysis *analysis, size_t ordinal, size_t layers,
                          FILE *stream)
{
    const struct measurement *first = NULL;
    int same_sparsity = 1, same_setting = 1;
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
        same_sparsity &= !(key->sparsity < first->sparsity || key->sparsity > first->sparsity);
        same_setting &= setting && other && strcmp(setting, other) == 0;
        free(other);
    }
    fprintf(stream, "\n%zu layers, %s, %s\n", layers,
            if_same(setting, same_setting && setting, "each with its own batch"),
            if_same(show_percent(first->sparsity).text, same_sparsity, "each at its own sparsity"));
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

static size_t layers_of(const struct analysis *analysis, size_t ordinal)
{
    size_t layers = 0;
    for (size_t i = 0; i < analysis->case_count; i++)
        layers += analysis->cases[i].ordinal == ordinal;
    return layers;
}

int totals_write(const struct analysis *analysis, FILE *stream)
{
    for (size_t ordinal = 0; ordinal < analysis->ordinal_count; ordinal++) {
        const size_t layers = layers_of(analysis, ordinal);
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
        add_rows(&grid, analysis, ordinal);
        const int code = text_grid_print(&grid, stream);
        if (code != EXIT_DONE)
            return code;
        write_sentence(analysis, ordinal, stream);
    }
    return EXIT_DONE;
}
