/* A text table with aligned columns: first all of its columns, then the cells row by row. */
#ifndef CSRCONV_TOOLS_REPORT_GRID_H
#define CSRCONV_TOOLS_REPORT_GRID_H

#include <stddef.h>
#include <stdio.h>

enum { GRID_COLUMNS = 32 };

struct grid {
    struct grid_cell *cells; /* row by row, the headings first */
    size_t count, capacity;
    size_t columns;
    char align[GRID_COLUMNS];
    int failed; /* no memory: grid_print says so */
};

/* align is 'l' or 'r'. At most GRID_COLUMNS. */
void grid_column(struct grid *grid, char align, const char *heading);

void grid_add(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills the rest of an unfinished row with a text, which may be as long as it likes. */
void grid_end_row(struct grid *grid, const char *text);

/* Prints with two blanks before each line, frees, and leaves an empty grid. Returns an exit_code.
 */
int grid_print(struct grid *grid, FILE *stream);

#endif
