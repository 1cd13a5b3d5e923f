#include "grid.h"

#include "../complain.h"
#include "text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

struct grid_cell {
    char *text;
    int takes_rest; /* of the row: does not widen its column */
};

/* Takes the text over. */
static void append(struct grid *grid, char *text, int takes_rest)
{
    if (grid->count == grid->capacity) {
        const size_t capacity = grid->capacity ? 2 * grid->capacity : 64;
        struct grid_cell *const grown = realloc(grid->cells, capacity * sizeof *grown);
        if (grown) {
            grid->cells = grown;
            grid->capacity = capacity;
        }
    }
    if (!text || grid->count == grid->capacity) {
        grid->failed = 1;
        free(text);
        return;
    }
    grid->cells[grid->count++] = (struct grid_cell){ text, takes_rest };
}

void grid_column(struct grid *grid, char align, const char *heading)
{
    assert(grid->columns < GRID_COLUMNS);
    grid->align[grid->columns++] = align;
    append(grid, text_format("%s", heading), 0);
}

void grid_add(struct grid *grid, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(grid, text_vformat(format, arguments), 0);
    va_end(arguments);
}

void grid_end_row(struct grid *grid, const char *text)
{
    append(grid, text_format("%s", text), 1);
    while (!grid->failed && grid->count % grid->columns != 0)
        append(grid, text_format("%s", ""), 1);
}

static size_t width_of(const struct grid *grid, size_t column)
{
    size_t widest = 0;
    for (size_t i = column; i < grid->count; i += grid->columns) {
        const size_t width = grid->cells[i].takes_rest ? 0 : text_width(grid->cells[i].text);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const struct grid *grid, const struct grid_cell *cells, const size_t *widths,
                      FILE *stream)
{
    size_t blanks = 2;
    for (size_t column = 0; column < grid->columns; column++) {
        const char *const text = cells[column].text;
        const size_t width = text_width(text);
        const size_t gap = widths[column] > width ? widths[column] - width : 0;
        const int is_right = grid->align[column] == 'r' && !cells[column].takes_rest;
        /* Blanks are printed once something follows, so that no line ends in them. */
        if (*text) {
            fprintf(stream, "%*s%s", (int)(blanks + (is_right ? gap : 0)), "", text);
            blanks = is_right ? 2 : gap + 2;
        } else {
            blanks += gap + 2;
        }
    }
    fputc('\n', stream);
}

int grid_print(struct grid *grid, FILE *stream)
{
    size_t widths[GRID_COLUMNS];
    for (size_t column = 0; column < grid->columns; column++)
        widths[column] = width_of(grid, column);
    if (!grid->failed)
        for (size_t i = 0; i < grid->count; i += grid->columns)
            print_row(grid, grid->cells + i, widths, stream);
    for (size_t i = 0; i < grid->count; i++)
        free(grid->cells[i].text);
    free(grid->cells);
    const int code =
        grid->failed ? complain(EXIT_WRONG, "table", "no memory for its cells") : EXIT_DONE;
    *grid = (struct grid){ 0 };
    return code;
}
