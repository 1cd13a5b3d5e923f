/* RFC 4180, but for its line ends, which are LF. */
#include "csv.h"

#include "report_format.h"

#include "../complain.h"

#include <string.h>

void csv_write_cell(FILE *stream, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n")) {
        fputs(cell, stream);
        return;
    }
    fputc('"', stream);
    for (; *cell; cell++) {
        if (*cell == '"')
            fputc('"', stream);
        fputc(*cell, stream);
    }
    fputc('"', stream);
}

static void end_cell(FILE *stream, const struct measurement_column *column)
{
    fputc(column[1].name ? ',' : '\n', stream);
}

static void write_row(FILE *stream, const struct measurement *measurement)
{
    char buffer[CELL_BYTES];
    for (const struct measurement_column *column = measurement_columns; column->name; column++) {
        csv_write_cell(stream, measurement_cell(measurement, column, buffer));
        end_cell(stream, column);
    }
}

static int write_csv(const struct report *report, FILE *stream)
{
    for (const struct measurement_column *column = measurement_columns; column->name; column++) {
        fputs(column->name, stream);
        end_cell(stream, column);
    }
    for (size_t i = 0; i < report->count; i++)
        if (report->results[i].status == RESULT_MEASURED)
            write_row(stream, &report->results[i].measurement);
    return EXIT_DONE;
}

const struct report_format report_format_csv = { "csv", write_csv };
