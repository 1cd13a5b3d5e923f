#include "report.h"

#include "../complain.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void report_init(struct report *report)
{
    *report = (struct report){ .date = "" };
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(report->date, sizeof report->date, "%Y-%m-%dT%H:%M:%S%z", &local);
}

/*
 * All texts of a result lie in one block that its reason starts, so that freeing the reason frees
 * them; this appends one and moves the place to append at.
 */
static void move_text(const char **text, char **place)
{
    const char *const from = *text ? *text : "";
    const size_t bytes = strlen(from) + 1;
    memcpy(*place, from, bytes);
    text_clean(*place);
    *text = *place;
    *place += bytes;
}

static size_t bytes_of(const char *text)
{
    return text ? strlen(text) + 1 : 1;
}

static int own_texts(struct result *result)
{
    size_t bytes = bytes_of(result->reason) + bytes_of(result->detail);
    for (const struct measurement_column *column = measurement_columns; column->name; column++)
        if (column->kind == COLUMN_TEXT)
            bytes += bytes_of(measurement_text(&result->measurement, column));
    char *place = malloc(bytes);
    if (!place)
        return complain(EXIT_WRONG, "report", "no memory for a result");
    move_text(&result->reason, &place);
    move_text(&result->detail, &place);
    for (const struct measurement_column *column = measurement_columns; column->name; column++)
        if (column->kind == COLUMN_TEXT)
            move_text(measurement_member(&result->measurement, column), &place);
    return EXIT_DONE;
}

static int make_room(struct report *report)
{
    if (report->count < report->capacity)
        return EXIT_DONE;
    const size_t capacity = report->capacity ? 2 * report->capacity : 64;
    struct result *const grown = realloc(report->results, capacity * sizeof *grown);
    if (!grown)
        return complain(EXIT_WRONG, "report", "no memory for %zu results", capacity);
    report->results = grown;
    report->capacity = capacity;
    return EXIT_DONE;
}

int report_add(struct report *report, const struct result *result)
{
    struct result copy = *result;
    const double median = copy.measurement.median_us;
    if (copy.status == RESULT_MEASURED && !(isfinite(median) && median > 0.0)) {
        copy.status = RESULT_FAILED;
        copy.reason = "its time is not a positive number";
    }
    int code = make_room(report);
    if (code == EXIT_DONE)
        code = own_texts(&copy);
    if (code == EXIT_DONE)
        report->results[report->count++] = copy;
    return code;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->count; i++)
        free((void *)(uintptr_t)report->results[i].reason);
    free(report->results);
    *report = (struct report){ .date = "" };
}
