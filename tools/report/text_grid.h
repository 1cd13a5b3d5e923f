/* A text table with aligned columns: first all of its columns, then the cells row by row. */
#ifndef CSRCONV_TOOLS_REPORT_TEXT_GRID_H
#define CSRCONV_TOOLS_REPORT_TEXT_GRID_H

#include <stddef.h>
#include <stdio.h>

enum { TEXT_GRID_COLUMNS = 32 };

struct text_grid {
    struct text_grid_cell *cells; /* row by row, the headings first */
    size_t count, capacity;
    size_t columns;
    char align[TEXT_GRID_COLUMNS];
    int failed; /* no memory: text_grid_print says so */
};

/* align is 'l' or 'r'. At most TEXT_GRID_COLUMNS. */
void text_grid_column(struct text_grid *grid, char align, const char *heading);

void text_grid_add(struct text_grid *grid, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fills the rest of an unfinished row with a text, which may be as long as it likes. */
void text_grid_end_row(struct text_grid *grid, const char *text);

/* Prints, two blanks before each line; frees, and leaves an empty grid. Returns an exit_code. */
int text_grid_print(struct text_grid *grid, FILE *stream);

#endif
