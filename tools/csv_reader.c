#include "csv_reader.h"

#include "complain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int csv_complain(const struct csv *csv, int column, const char *what)
{
    char where[512];
    if (column < 0)
        snprintf(where, sizeof where, "%s:%lld", csv->where, (long long)csv->line);
    else
        snprintf(where, sizeof where, "%s:%lld:%s", csv->where, (long long)csv->line,
                 csv->header.text + csv->header.offsets[column]);
    return complain(EXIT_BAD, where, "%s", what);
}

/* Makes room for one more element; doubles, so that a row of n bytes costs O(n). */
static int reserve(const struct csv *csv, void **array, size_t *allocated, size_t used, size_t size)
{
    if (used < *allocated)
        return EXIT_DONE;
    const size_t larger = *allocated ? 2 * *allocated : 64;
    void *moved = realloc(*array, larger * size);
    if (!moved)
        return complain(EXIT_WRONG, csv->where, "out of memory");
    *array = moved;
    *allocated = larger;
    return EXIT_DONE;
}

static int add_byte(const struct csv *csv, struct csv_row *row, char byte)
{
    void *text = row->text;
    const int code = reserve(csv, &text, &row->text_size, row->used, 1);
    row->text = text;
    if (code == EXIT_DONE)
        row->text[row->used++] = byte;
    return code;
}

static int start_cell(const struct csv *csv, struct csv_row *row)
{
    void *offsets = row->offsets;
    const int code = reserve(csv, &offsets, &row->offsets_size, row->count, sizeof *row->offsets);
    row->offsets = offsets;
    if (code == EXIT_DONE)
        row->offsets[row->count++] = row->used;
    return code;
}

static bool at_line_end(const struct csv *csv)
{
    return csv->at == csv->end || *csv->at == '\n' ||
           (*csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n');
}

static void skip_line_end(struct csv *csv)
{
    if (csv->at < csv->end && *csv->at == '\r')
        csv->at++;
    if (csv->at < csv->end)
        csv->at++;
    csv->next_line++;
}

/* The rest of a cell whose opening quote has been read. */
static int read_quoted(struct csv *csv, struct csv_row *row)
{
    int code = EXIT_DONE;
    for (; code == EXIT_DONE; csv->at++) {
        if (csv->at == csv->end)
            return csv_complain(csv, -1, "a quote that is opened in this row is never closed");
        if (*csv->at == '"') {
            if (csv->at + 1 == csv->end || csv->at[1] != '"')
                break;
            csv->at++;
        }
        csv->next_line += *csv->at == '\n';
        code = add_byte(csv, row, *csv->at);
    }
    if (code != EXIT_DONE)
        return code;
    csv->at++;
    if (!at_line_end(csv) && *csv->at != ',')
        return csv_complain(csv, -1, "text follows a closing quote");
    return EXIT_DONE;
}

static int read_plain(struct csv *csv, struct csv_row *row)
{
    int code = EXIT_DONE;
    for (; code == EXIT_DONE && !at_line_end(csv) && *csv->at != ','; csv->at++) {
        if (*csv->at == '"')
            return csv_complain(csv, -1, "a quote in the middle of a cell that has none around it");
        code = add_byte(csv, row, *csv->at);
    }
    return code;
}

static int read_cell(struct csv *csv, struct csv_row *row)
{
    int code = start_cell(csv, row);
    if (code != EXIT_DONE)
        return code;
    if (csv->at < csv->end && *csv->at == '"') {
        csv->at++;
        code = read_quoted(csv, row);
    } else {
        code = read_plain(csv, row);
    }
    return code == EXIT_DONE ? add_byte(csv, row, '\0') : code;
}

static int read_row(struct csv *csv, struct csv_row *row, bool *more)
{
    row->count = row->used = 0;
    while (csv->at < csv->end && at_line_end(csv))
        skip_line_end(csv);
    csv->line = csv->next_line;
    *more = csv->at < csv->end;
    if (!*more)
        return EXIT_DONE;
    for (;;) {
        const int code = read_cell(csv, row);
        if (code != EXIT_DONE)
            return code;
        if (at_line_end(csv))
            break;
        csv->at++; /* the comma */
    }
    skip_line_end(csv);
    return EXIT_DONE;
}

int csv_open(struct csv *csv, const char *where, const char *data, size_t size)
{
    *csv = (struct csv){ .where = where, .at = data, .end = data + size, .next_line = 1 };
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        csv->at += 3;
    if (memchr(csv->at, '\0', (size_t)(csv->end - csv->at)))
        return complain(EXIT_BAD, where, "not a CSV file: it holds NUL bytes");
    bool more;
    const int code = read_row(csv, &csv->header, &more);
    if (code == EXIT_DONE && !more)
        return complain(EXIT_BAD, where, "empty: a CSV file needs a header line");
    return code;
}

int csv_next_row(struct csv *csv, bool *more)
{
    const int code = read_row(csv, &csv->row, more);
    if (code != EXIT_DONE || !*more || csv->row.count == csv->header.count)
        return code;
    char what[80];
    snprintf(what, sizeof what, "%zu cells, but the header has %zu", csv->row.count,
             csv->header.count);
    return csv_complain(csv, -1, what);
}

void csv_close(struct csv *csv)
{
    free(csv->header.text);
    free(csv->header.offsets);
    free(csv->row.text);
    free(csv->row.offsets);
    *csv = (struct csv){ 0 };
}

int csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->header.count; i++)
        if (strcmp(csv->header.text + csv->header.offsets[i], name) == 0)
            return (int)i;
    return -1;
}

int csv_need_column(const struct csv *csv, const char *name, int *column)
{
    *column = csv_column(csv, name);
    if (*column >= 0)
        return EXIT_DONE;
    return complain(EXIT_BAD, csv->where, "the header has no column '%s'", name);
}

const char *csv_cell(const struct csv *csv, int column)
{
    return column < 0 ? "" : csv->row.text + csv->row.offsets[column];
}

int csv_integer(const struct csv *csv, int column, int64_t least, int64_t *value)
{
    const char *cell = csv_cell(csv, column);
    char what[160];
    char *end;
    errno = 0;
    const long long number = strtoll(cell, &end, 10);
    if (end == cell || *end || errno == ERANGE)
        snprintf(what, sizeof what, "'%.80s' is no whole number", cell);
    else if (number < least)
        snprintf(what, sizeof what, "%lld is less than %lld", number, (long long)least);
    else {
        *value = number;
        return EXIT_DONE;
    }
    return csv_complain(csv, column, what);
}

int csv_number(const struct csv *csv, int column, double *value)
{
    const char *cell = csv_cell(csv, column);
    char *end;
    *value = strtod(cell, &end);
    if (end != cell && !*end && isfinite(*value))
        return EXIT_DONE;
    char what[160];
    snprintf(what, sizeof what, "'%.80s' is no finite number", cell);
    return csv_complain(csv, column, what);
}
