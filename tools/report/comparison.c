#include "comparison.h"

#include "../complain.h"
#include "analysis.h"
#include "show.h"
#include "statistics.h"
#include "text_grid.h"

#include <stdlib.h>
#include <string.h>

/* The first of comparison_columns identify a measurement. */
enum { KEYS = 11 };
const char *const comparison_columns[] = { "name",      "problem",   "batch", "sparsity", "pattern",
                                           "algorithm", "device",    "math",  "layout",   "cache",
                                           "threads",   "median_us", "q1_us", "q3_us",    "machine",
                                           "driver",    "version",   NULL };

/* ------------------------------------------------------------------------------------------
 * joining */

/* The rows of a file in the order of their keys; the report has them in that of the file. */
struct sorted {
    const struct report *report;
    const struct measurement **rows;
};

static int compare_columns(const struct measurement *a, const struct measurement *b,
                           const char *name)
{
    const struct measurement_column *const column = measurement_column(name);
    if (column->kind == COLUMN_TEXT)
        return strcmp(measurement_text(a, column), measurement_text(b, column));
    if (column->kind == COLUMN_REAL) {
        const double left = measurement_real(a, column), right = measurement_real(b, column);
        return (left > right) - (left < right);
    }
    const int64_t left = measurement_whole(a, column), right = measurement_whole(b, column);
    return (left > right) - (left < right);
}

static int compare_keys(const struct measurement *a, const struct measurement *b)
{
    int order = 0;
    for (size_t i = 0; i < KEYS && order == 0; i++)
        order = compare_columns(a, b, comparison_columns[i]);
    return order;
}

static int by_key(const void *left, const void *right)
{
    return compare_keys(*(const struct measurement *const *)left,
                        *(const struct measurement *const *)right);
}

static int sort_rows(const struct report *report, const char *name, struct sorted *sorted)
{
    const size_t count = report->count;
    sorted->report = report;
    sorted->rows = calloc(count ? count : 1, sizeof *sorted->rows);
    if (!sorted->rows)
        return complain(EXIT_WRONG, name, "no memory to sort %zu rows", count);
    for (size_t i = 0; i < count; i++)
        sorted->rows[i] = &report->results[i].measurement;
    qsort(sorted->rows, count, sizeof *sorted->rows, by_key);
    for (size_t i = 1; i < count; i++)
        if (compare_keys(sorted->rows[i - 1], sorted->rows[i]) == 0)
            return complain(EXIT_BAD, name, "two rows measure %s of %s alike",
                            sorted->rows[i]->algorithm, layer_name(sorted->rows[i]));
    return EXIT_DONE;
}

static const struct measurement *find(const struct sorted *sorted, const struct measurement *key)
{
    const struct measurement **const found =
        bsearch(&key, sorted->rows, sorted->report->count, sizeof *sorted->rows, by_key);
    return found ? *found : NULL;
}

/* ------------------------------------------------------------------------------------------
 * writing */

static void write_difference(const struct measurement *old, const struct measurement *fresh,
                             const char *column_name, FILE *stream)
{
    const struct measurement_column *const column = measurement_column(column_name);
    const char *const before = measurement_text(old, column);
    const char *const after = measurement_text(fresh, column);
    if (strcmp(before, after) != 0)
        fprintf(stream, "different %s: %s, then %s\n", column_name, *before ? before : "none",
                *after ? after : "none");
}

enum verdict { FASTER, SLOWER, SAME, VERDICTS };

static const char *const verdict_names[VERDICTS] = { "faster", "slower", "same" };

/* Ranges of the middle half of the samples that overlap are no difference. */
static enum verdict verdict_of(const struct measurement *old, const struct measurement *fresh)
{
    if (fresh->q3_us < old->q1_us)
        return FASTER;
    return fresh->q1_us > old->q3_us ? SLOWER : SAME;
}

static void add_key(struct text_grid *grid, const struct measurement *key)
{
    char *const setting = show_setting(key);
    text_grid_add(grid, "%s", layer_name(key));
    text_grid_add(grid, "%s", show_percent(key->sparsity).text);
    text_grid_add(grid, "%s", setting ? setting : "");
    text_grid_add(grid, "%s", key->algorithm);
    free(setting);
}

static void add_pair(struct text_grid *grid, const struct measurement *old,
                     const struct measurement *fresh)
{
    add_key(grid, fresh ? fresh : old);
    text_grid_add(grid, "%s", old ? show_number(old->median_us).text : "-");
    text_grid_add(grid, "%s", fresh ? show_number(fresh->median_us).text : "-");
    if (!old || !fresh) {
        text_grid_end_row(grid, old ? "only in the old file" : "only in the new file");
        return;
    }
    text_grid_add(grid, "%s", show_times(fresh->median_us / old->median_us).text);
    text_grid_add(grid, "%s", verdict_names[verdict_of(old, fresh)]);
}

static int write_rows(const struct sorted *old, const struct sorted *fresh, FILE *stream)
{
    struct text_grid grid = { 0 };
    text_grid_column(&grid, 'l', "layer");
    text_grid_column(&grid, 'r', "zeros");
    text_grid_column(&grid, 'l', "setting");
    text_grid_column(&grid, 'l', "algorithm");
    text_grid_column(&grid, 'r', "old us");
    text_grid_column(&grid, 'r', "new us");
    text_grid_column(&grid, 'r', "new/old");
    text_grid_column(&grid, 'l', "");
    for (size_t i = 0; i < fresh->report->count; i++) {
        const struct measurement *const row = &fresh->report->results[i].measurement;
        add_pair(&grid, find(old, row), row);
    }
    for (size_t i = 0; i < old->report->count; i++) {
        const struct measurement *const row = &old->report->results[i].measurement;
        if (!find(fresh, row))
            add_pair(&grid, row, NULL);
    }
    return text_grid_print(&grid, stream);
}

static int is_first_of_its_algorithm(const struct report *report, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(report->results[i].measurement.algorithm,
                   report->results[index].measurement.algorithm) == 0)
            return 0;
    return 1;
}

/* Returns how many of the algorithm's measurements are in both. */
static size_t write_mean(const struct sorted *old, const struct report *fresh,
                         const char *algorithm, FILE *stream)
{
    struct geometric_mean mean = { 0 };
    size_t verdicts[VERDICTS] = { 0 };
    for (size_t i = 0; i < fresh->count; i++) {
        const struct measurement *const row = &fresh->results[i].measurement;
        const struct measurement *const before =
            strcmp(row->algorithm, algorithm) == 0 ? find(old, row) : NULL;
        if (!before)
            continue;
        geometric_mean_add(&mean, row->median_us / before->median_us);
        verdicts[verdict_of(before, row)]++;
    }
    if (mean.count)
        fprintf(stream, "%s: %s by the geometric mean of %zu; %zu faster, %zu slower, %zu same\n",
                algorithm, show_times(geometric_mean_value(&mean)).text, mean.count,
                verdicts[FASTER], verdicts[SLOWER], verdicts[SAME]);
    return mean.count;
}

static int write_joined(const struct sorted *old, const struct sorted *fresh, size_t *common,
                        FILE *stream)
{
    static const char *const circumstances[] = { "machine", "driver", "version" };
    for (size_t i = 0; i < sizeof circumstances / sizeof circumstances[0]; i++)
        write_difference(&old->report->results[0].measurement,
                         &fresh->report->results[0].measurement, circumstances[i], stream);
    const int code = write_rows(old, fresh, stream);
    for (size_t i = 0; code == EXIT_DONE && i < fresh->report->count; i++)
        if (is_first_of_its_algorithm(fresh->report, i))
            *common += write_mean(old, fresh->report,
                                  fresh->report->results[i].measurement.algorithm, stream);
    return code;
}

int comparison_write(const struct report *old, const char *old_name, const struct report *fresh,
                     const char *new_name, FILE *stream)
{
    struct sorted old_rows = { 0 }, new_rows = { 0 };
    size_t common = 0;
    int code = sort_rows(old, old_name, &old_rows);
    if (code == EXIT_DONE)
        code = sort_rows(fresh, new_name, &new_rows);
    if (code == EXIT_DONE)
        code = write_joined(&old_rows, &new_rows, &common, stream);
    if (code == EXIT_DONE && !common)
        code = complain(EXIT_BAD, new_name, "has no measurement in common with %s", old_name);
    free(old_rows.rows);
    free(new_rows.rows);
    return code;
}
