#include "text_grid.h"

#include "../complain.h"
#include "text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

struct text_grid_cell {
    char *text;
    int takes_rest; /* of the row: does not widen its column */
};

/* Takes the text over. */
static void append(struct text_grid *grid, char *text, int takes_rest)
{
    if (grid->count == grid->capacity) {
        const size_t capacity = grid->capacity ? 2 * grid->capacity : 64;
        struct text_grid_cell *const grown = realloc(grid->cells, capacity * sizeof *grown);
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
    grid->cells[grid->count++] = (struct text_grid_cell){ text, takes_rest };
}

void text_grid_column(struct text_grid *grid, char align, const char *heading)
{
    assert(grid->columns < TEXT_GRID_COLUMNS);
    grid->align[grid->columns++] = align;
    append(grid, text_format("%s", heading), 0);
}

void text_grid_add(struct text_grid *grid, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(grid, text_vformat(format, arguments), 0);
    va_end(arguments);
}

void text_grid_end_row(struct text_grid *grid, const char *text)
{
    append(grid, text_format("%s", text), 1);
    while (!grid->failed && grid->count % grid->columns != 0)
        append(grid, text_format("%s", ""), 1);
}

static size_t width_of(const struct text_grid *grid, size_t column)
{
    size_t widest = 0;
    for (size_t i = column; i < grid->count; i += grid->columns) {
        const size_t width = grid->cells[i].takes_rest ? 0 : text_width(grid->cells[i].text);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const struct text_grid *grid, const struct text_grid_cell *cells,
                      const size_t *widths, FILE *stream)
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

int text_grid_print(struct text_grid *grid, FILE *stream)
{
    size_t widths[TEXT_GRID_COLUMNS];
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
    *grid = (struct text_grid){ 0 };
    return code;
}
