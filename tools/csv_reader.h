/*
 * Reads CSV as spreadsheets and this project write it: a header line, commas, cells in double
 * quotes where they hold commas, quotes ("" stands for one) or line breaks; LF or CRLF; a byte
 * order mark and blank lines are skipped. Every row must have as many cells as the header.
 *
 * The functions return an exit_code, and complain where they fail, as FILE:LINE or
 * FILE:LINE:COLUMN.
 */
#ifndef CSRCONV_TOOLS_CSV_READER_H
#define CSRCONV_TOOLS_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_row {
    char *text;       /* the cells, each ended by NUL, one after the other */
    size_t *offsets;  /* of the cells in text */
    size_t count;     /* cells */
    size_t used;      /* bytes of text */
    size_t text_size; /* allocated */
    size_t offsets_size;
};

struct csv {
    const char *where;
    const char *at, *end; /* what is still to be read */
    int64_t line;         /* where the current row starts, from 1 */
    int64_t next_line;
    struct csv_row header, row;
};

/*
 * Reads the header of `size` bytes of CSV; where names their origin. Both must live until
 * csv_close, which is to be called after a failure too.
 */
int csv_open(struct csv *csv, const char *where, const char *data, size_t size);

/* Reads a row; *more is false at the end of the data. */
int csv_next_row(struct csv *csv, bool *more);

void csv_close(struct csv *csv);

/* The index of the column of that name, -1 if there is none. */
int csv_column(const struct csv *csv, const char *name);

/* The same where a column must be there. */
int csv_need_column(const struct csv *csv, const char *name, int *column);

/* A cell of the current row; "" for column -1. Valid until the next row is read. */
const char *csv_cell(const struct csv *csv, int column);

/* A cell as a whole number of at least `least`, or as a finite number. */
int csv_integer(const struct csv *csv, int column, int64_t least, int64_t *value);
int csv_number(const struct csv *csv, int column, double *value);

/* complain() about a cell of the current row; column -1: about the row. Returns EXIT_BAD. */
int csv_complain(const struct csv *csv, int column, const char *what);

#endif
