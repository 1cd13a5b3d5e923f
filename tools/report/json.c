/*
 * Google Benchmark's JSON (json_schema_version 1), so that its tools read ours. Host name and paths
 * are left out, and what is not a finite number too, as JSON has no word for it.
 */
#include "report_format.h"

#include "../complain.h"
#include "analysis.h"
#include "json_context.h"
#include "text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Jansson answers a lack of memory with NULL, which would leave a member or an entry out; that an
 * allocation failed is remembered here, so that no such file is written.
 */
static int lacks_memory;

static void *allocate(size_t bytes)
{
    void *const memory = malloc(bytes);
    lacks_memory |= !memory;
    return memory;
}

static json_t *finite_number(double value)
{
    return isfinite(value) ? json_real(value) : NULL;
}

/* NULL if it is 0: not known. */
static json_t *known_time(double us)
{
    return us > 0.0 ? finite_number(us) : NULL;
}

/* Leaves NULL out. */
static void set(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(object, key, value);
}

/* ------------------------------------------------------------------------------------- families */

/* A family is one algorithm on one layer; its instances differ in sparsity, batch and so on. */
struct instance {
    size_t family, index;
};

static int same_family(const struct report_case *a, const struct result *left,
                       const struct report_case *b, const struct result *right)
{
    return a->layer == b->layer &&
           strcmp(left->measurement.algorithm, right->measurement.algorithm) == 0;
}

/* The place of the j-th result of the i-th case. */
static struct instance instance_of(const struct analysis *analysis, size_t i, size_t j)
{
    const struct report_case *const subject = &analysis->cases[i];
    struct instance instance = { 0, 0 };
    const struct report_case *home = subject;
    size_t place = j;
    for (size_t k = i; k-- > 0;) {
        const struct report_case *const other = &analysis->cases[k];
        for (size_t l = 0; l < other->count; l++) {
            if (!same_family(other, other->results[l], subject, subject->results[j]))
                continue;
            instance.index++;
            home = other;
            place = l;
        }
    }
    /* Families are numbered by the slot of their first result: unique, and ascending. */
    instance.family = (size_t)(home->results - analysis->result_slots) + place;
    return instance;
}

/* -------------------------------------------------------------------------------- one benchmark */

static char *run_name(const struct measurement *m)
{
    char sparsity[CELL_BYTES];
    return text_format("%s/%s/batch:%lld/sparsity:%s/%s/%s/threads:%lld", layer_name(m),
                       m->algorithm, (long long)m->batch,
                       measurement_cell(m, measurement_column("sparsity"), sparsity), m->device,
                       m->cache, (long long)m->threads);
}

static json_t *counter(const struct measurement *m, const struct measurement_column *column)
{
    char cell[CELL_BYTES];
    switch (column->kind) {
    case COLUMN_REAL:
        return finite_number(measurement_real(m, column));
    case COLUMN_WHOLE:
        return json_integer(measurement_whole(m, column));
    case COLUMN_KNOWN:
        return measurement_whole(m, column) ? json_integer(measurement_whole(m, column)) : NULL;
    case COLUMN_YES_NO:
        return json_boolean(strcmp(measurement_cell(m, column, cell), "yes") == 0);
    case COLUMN_TEXT:
        break;
    }
    return json_string(measurement_text(m, column));
}

/* name and threads have their own meaning in the schema. */
static void set_counters(json_t *entry, const struct measurement *m)
{
    for (const struct measurement_column *column = measurement_columns; column->name; column++)
        if (strcmp(column->name, "name") != 0 && strcmp(column->name, "threads") != 0)
            set(entry, column->name, counter(m, column));
    set(entry, "layer", json_string(m->name));
}

static json_t *entry_start(const struct result *result, const char *run, const char *suffix,
                           struct instance instance)
{
    json_t *const entry = json_object();
    set(entry, "name", json_sprintf("%s%s", run, suffix));
    set(entry, "family_index", json_integer((json_int_t)instance.family));
    set(entry, "per_family_instance_index", json_integer((json_int_t)instance.index));
    set(entry, "run_name", json_string(run));
    set(entry, "run_type", json_string(*suffix ? "aggregate" : "iteration"));
    set(entry, "repetitions", json_integer(1));
    set(entry, "threads", json_integer(result->measurement.threads));
    return entry;
}

/* cpu_time repeats the time of the wall: readers demand it, and the measurement knows no other. */
static void set_times(json_t *entry, const struct measurement *m, double time_us)
{
    set(entry, "iterations", json_integer(m->samples));
    set(entry, "real_time", finite_number(time_us));
    set(entry, "cpu_time", finite_number(time_us));
    set(entry, "time_unit", json_string("us"));
}

static json_t *iteration(const struct result *result, const char *run, struct instance instance)
{
    json_t *const entry = entry_start(result, run, "", instance);
    set(entry, "repetition_index", json_integer(0));
    if (result->status == RESULT_MEASURED) {
        set_times(entry, &result->measurement, result->measurement.median_us);
        set_counters(entry, &result->measurement);
        set(entry, "estimate_us", known_time(result->estimate_us));
        set(entry, "layers_us", known_time(result->layers_us));
        return entry;
    }
    const int failed = result->status == RESULT_FAILED;
    set(entry, failed ? "error_occurred" : "skipped", json_true());
    set(entry, failed ? "error_message" : "skip_message", json_string(result->reason));
    return entry;
}

static void append_aggregates(json_t *benchmarks, const struct result *result, const char *run,
                              struct instance instance)
{
    const struct measurement *const m = &result->measurement;
    const struct {
        const char *suffix;
        double time_us;
    } aggregates[] = {
        { "_median", m->median_us }, { "_min", m->min_us }, { "_q1", m->q1_us }, { "_q3", m->q3_us }
    };
    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++) {
        json_t *const entry = entry_start(result, run, aggregates[i].suffix, instance);
        set(entry, "aggregate_name", json_string(aggregates[i].suffix + 1));
        set(entry, "aggregate_unit", json_string("time"));
        set_times(entry, m, aggregates[i].time_us);
        json_array_append_new(benchmarks, entry);
    }
}

static int append_result(json_t *benchmarks, const struct analysis *analysis, size_t i, size_t j)
{
    const struct result *const result = analysis->cases[i].results[j];
    const struct instance instance = instance_of(analysis, i, j);
    char *const run = run_name(&result->measurement);
    if (!run)
        return complain(EXIT_WRONG, "json", "no memory");
    json_array_append_new(benchmarks, iteration(result, run, instance));
    if (result->status == RESULT_MEASURED)
        append_aggregates(benchmarks, result, run, instance);
    free(run);
    return EXIT_DONE;
}

/* ------------------------------------------------------------------------------------- the file */

static int append_results(json_t *benchmarks, const struct report *report)
{
    struct analysis analysis;
    int code = analyse(report, &analysis);
    for (size_t i = 0; code == EXIT_DONE && i < analysis.case_count; i++)
        for (size_t j = 0; code == EXIT_DONE && j < analysis.cases[i].count; j++)
            code = append_result(benchmarks, &analysis, i, j);
    analysis_free(&analysis);
    return code;
}

static int write_root(const struct report *report, FILE *stream)
{
    json_t *const root = json_object();
    json_t *const benchmarks = json_array();
    set(root, "context", json_context(report));
    set(root, "benchmarks", benchmarks);
    int code = append_results(benchmarks, report);
    /* A failing dump is a failing stream, which is found where it is closed. */
    if (code == EXIT_DONE && !lacks_memory)
        json_dumpf(root, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', stream);
    json_decref(root);
    return code == EXIT_DONE && lacks_memory ? complain(EXIT_WRONG, "json", "out of memory") : code;
}

static int write_json(const struct report *report, FILE *stream)
{
    json_malloc_t before_malloc;
    json_free_t before_free;
    json_get_alloc_funcs(&before_malloc, &before_free);
    json_set_alloc_funcs(allocate, free);
    lacks_memory = 0;
    const int code = write_root(report, stream);
    json_set_alloc_funcs(before_malloc, before_free);
    return code;
}

const struct report_format report_format_json = { "json", write_json };
