#include "read.h"

#include "../complain.h"
#include "../csv_reader.h"
#include "../problem/text_file.h"

#include <stdlib.h>

enum { MOST_COLUMNS = 64 };

struct columns {
    const struct measurement_column *of[MOST_COLUMNS];
    int index[MOST_COLUMNS]; /* in the file */
    size_t count;
};

static int find_columns(const struct csv *csv, const char *const *names, struct columns *columns)
{
    columns->count = 0;
    for (; *names && columns->count < MOST_COLUMNS; names++, columns->count++) {
        columns->of[columns->count] = measurement_column(*names);
        const int code = csv_need_column(csv, *names, &columns->index[columns->count]);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static int read_cell(const struct csv *csv, int index, const struct measurement_column *column,
                     struct measurement *measurement)
{
    void *const member = measurement_member(measurement, column);
    switch (column->kind) {
    case COLUMN_WHOLE:
        return csv_integer(csv, index, 0, member);
    case COLUMN_REAL:
        return csv_number(csv, index, member);
    case COLUMN_TEXT:
        *(const char **)member = csv_cell(csv, index);
        return EXIT_DONE;
    case COLUMN_KNOWN:
        return *csv_cell(csv, index) ? csv_integer(csv, index, 0, member) : EXIT_DONE;
    case COLUMN_YES_NO:
        *(int *)member = *csv_cell(csv, index) == 'y';
        return EXIT_DONE;
    }
    return EXIT_DONE;
}

static int read_row(const struct csv *csv, const struct columns *columns, struct report *report)
{
    struct result result = { .status = RESULT_MEASURED };
    for (size_t i = 0; i < columns->count; i++) {
        const int code = read_cell(csv, columns->index[i], columns->of[i], &result.measurement);
        if (code != EXIT_DONE)
            return code;
    }
    if (result.measurement.median_us <= 0.0)
        return csv_complain(csv, csv_column(csv, "median_us"), "a time of 0 or less");
    return report_add(report, &result);
}

static int read_rows(struct csv *csv, const char *const *names, struct report *report)
{
    struct columns columns;
    const size_t before = report->count;
    bool more = true;
    int code = find_columns(csv, names, &columns);
    while (code == EXIT_DONE && more) {
        code = csv_next_row(csv, &more);
        if (code == EXIT_DONE && more)
            code = read_row(csv, &columns, report);
    }
    if (code == EXIT_DONE && report->count == before)
        return complain(EXIT_BAD, csv->where, "no measurement in it");
    return code;
}

int report_read(struct report *report, const char *path, const char *const *columns)
{
    char *text;
    size_t size;
    int code = text_file_read(path, &text, &size);
    if (code != EXIT_DONE)
        return code;
    struct csv csv;
    code = csv_open(&csv, path, text, size);
    if (code == EXIT_DONE)
        code = read_rows(&csv, columns, report);
    csv_close(&csv);
    free(text);
    return code;
}
