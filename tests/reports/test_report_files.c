/* The JSON as a reader of Google Benchmark's files takes it, and the SVG as one of XML does. */
#include "sample.h"

#include "complain.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *load(struct report *report)
{
    char *const text = sample_write(&report_format_json, report);
    json_error_t error;
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    assert_null(strstr(text, "host_name"));
    assert_null(strstr(text, "executable"));
    free(text);
    report_free(report);
    return root;
}

static const char *string_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void assert_context(const json_t *context)
{
    assert_string_equal(string_of(context, "date"), "2026-01-02T03:04:05+0000");
    assert_string_equal(string_of(context, "library_version"), "0.1.0");
    assert_string_equal(string_of(context, "machine"), "Example CPU, 8 cores");
    assert_string_equal(string_of(context, "commit"), "0123abc");
    assert_int_equal(json_integer_value(json_object_get(context, "json_schema_version")), 1);
    assert_true(json_integer_value(json_object_get(context, "num_cpus")) > 0);
}

/* What every entry of the schema has. */
static void assert_entry(const json_t *entry)
{
    static const char *const strings[] = { "name", "run_name", "run_type" };
    static const char *const integers[] = { "family_index", "per_family_instance_index",
                                            "repetitions", "threads" };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        assert_true(json_is_string(json_object_get(entry, strings[i])));
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        assert_true(json_is_integer(json_object_get(entry, integers[i])));
    if (json_object_get(entry, "error_occurred") || json_object_get(entry, "skipped")) {
        assert_null(json_object_get(entry, "real_time"));
        return;
    }
    assert_true(json_is_real(json_object_get(entry, "real_time")));
    assert_true(json_is_real(json_object_get(entry, "cpu_time")));
    assert_string_equal(string_of(entry, "time_unit"), "us");
}

static const json_t *entry_of(const json_t *benchmarks, const char *name)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(benchmarks, i,
                       entry) if (strcmp(string_of(entry, "name"), name) == 0) return entry;
    fail_msg("no benchmark %s", name);
    return NULL;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void writes_json(void **state)
{
    (void)state;
    struct report report;
    sample_layers(&report);
    json_t *const root = load(&report);
    assert_context(json_object_get(root, "context"));
    const json_t *const benchmarks = json_object_get(root, "benchmarks");
    assert_int_equal(json_array_size(benchmarks), 4 * 5 + 2);
    for (size_t i = 0; i < json_array_size(benchmarks); i++)
        assert_entry(json_array_get(benchmarks, i));
    const json_t *const direct =
        entry_of(benchmarks, "net:a/direct/batch:1/sparsity:0.9/cpu/hot/threads:8");
    assert_true(number_of(direct, "real_time") == 50.0);
    assert_true(number_of(direct, "gflops_nnz") == 12.3457);
    assert_true(number_of(direct, "estimate_us") == 48.0);
    assert_null(json_object_get(direct, "layers_us"));
    assert_null(json_object_get(
        entry_of(benchmarks, "net:a/openblas/batch:1/sparsity:0.9/cpu/hot/threads:8"),
        "estimate_us"));
    assert_string_equal(string_of(direct, "run_type"), "iteration");
    const json_t *const least =
        entry_of(benchmarks, "net:a/direct/batch:1/sparsity:0.9/cpu/hot/threads:8_min");
    assert_true(number_of(least, "real_time") == 49.0);
    assert_string_equal(string_of(least, "aggregate_name"), "min");
    assert_string_equal(
        string_of(entry_of(benchmarks, "net:a/onednn/batch:1/sparsity:0.9/cpu/hot/threads:8"),
                  "error_message"),
        "output [0, 3, 13, 0] is 1.5, not 1.25");
    assert_string_equal(
        string_of(entry_of(benchmarks, "net:b/onednn/batch:1/sparsity:0.7/cpu/hot/threads:8"),
                  "skip_message"),
        "it has no dilation");
    json_decref(root);
}

static void numbers_families(void **state)
{
    (void)state;
    struct report report;
    sample_sweep(&report);
    json_t *const root = load(&report);
    const json_t *const last = entry_of(json_object_get(root, "benchmarks"),
                                        "net:a/openblas/batch:1/sparsity:0.95/cpu/hot/threads:8");
    assert_true(number_of(last, "family_index") == 1.0);
    assert_true(number_of(last, "per_family_instance_index") == 3.0);
    json_decref(root);
}

/* A report of all that could break a file: markup, bytes that are no text, values beyond numbers.
 */
static void start_hostile(struct report *report)
{
    sample_start(report);
    struct result result =
        sample_result("<&\"'>\xff\x01 of a name much longer than any label has room for", 0.9,
                      "<b>&amp;", OWN_SPARSE, 50.0);
    result.measurement.machine = "</svg>\n";
    result.measurement.gflops_nnz = (double)NAN;
    result.measurement.max_error = (double)INFINITY;
    result.measurement.sm_clock_mhz = 1980;
    sample_add(report, &result);
    result.measurement.algorithm = "none";
    result.status = RESULT_SKIPPED;
    result.reason = "\xc3 & <";
    sample_add(report, &result);
}

static void writes_valid_json_of_anything(void **state)
{
    (void)state;
    struct report report;
    start_hostile(&report);
    json_t *const root = load(&report);
    const json_t *const first = json_array_get(json_object_get(root, "benchmarks"), 0);
    assert_null(json_object_get(first, "gflops_nnz"));
    assert_null(json_object_get(first, "max_error"));
    assert_true(number_of(first, "sm_clock_mhz") == 1980.0);
    json_decref(root);
    sample_start(&report);
    json_decref(load(&report));
}

/* ------------------------------------------------------------------------------------------ SVG */

enum { DEEPEST = 16, LONGEST = 16 };

static void assert_entity(const char *at)
{
    static const char *const entities[] = { "&amp;", "&lt;", "&gt;" };
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (strncmp(at, entities[i], strlen(entities[i])) == 0)
            return;
    fail_msg("a bare & before %.20s", at);
}

/* Enough of XML for what svg.c writes: tags nest, their quotes pair, and & starts an entity. */
static void assert_well_formed(const char *at)
{
    char open[DEEPEST][LONGEST];
    size_t depth = 0;
    for (at = strstr(at, "?>") + 2; *at; at++) {
        if (*at == '&')
            assert_entity(at);
        assert_true(*at == '\n' || !iscntrl((unsigned char)*at));
        if (*at != '<')
            continue;
        const char *const end = strchr(at, '>');
        assert_non_null(end);
        size_t quotes = 0;
        for (const char *c = at; c < end; c++)
            quotes += *c == '"';
        assert_int_equal(quotes % 2, 0);
        const int closes = at[1] == '/';
        char name[LONGEST] = "";
        strncat(name, at + 1 + closes, strcspn(at + 1 + closes, " />"));
        if (closes)
            assert_string_equal(name, open[--depth]);
        else if (end[-1] != '/')
            strcpy(open[depth++], name);
        at = end;
    }
    assert_int_equal(depth, 0);
}

static void assert_chart(struct report *report, const char *has)
{
    char *const svg = sample_write(&report_format_svg, report);
    assert_well_formed(svg);
    assert_non_null(strstr(svg, has));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
    free(svg);
    report_free(report);
}

static void draws_bars(void **state)
{
    (void)state;
    struct report report;
    sample_layers(&report);
    assert_chart(&report, ">3.00x *</text>");
}

static void draws_curves(void **state)
{
    (void)state;
    struct report report;
    sample_sweep(&report);
    assert_chart(&report, ">pays from 80 %</text>");
}

static void draws_anything(void **state)
{
    (void)state;
    struct report report;
    start_hostile(&report);
    assert_chart(&report, "&lt;&amp;\"'&gt;?? of a name");
    sample_start(&report);
    struct result result = sample_result("net:a", 0.9, "direct", OWN_SPARSE, 50.0);
    result.status = RESULT_SKIPPED;
    sample_add(&report, &result);
    result.measurement.sparsity = 0.5;
    sample_add(&report, &result);
    assert_chart(&report, "time against sparsity");
}

static void refuses_to_draw_nothing(void **state)
{
    (void)state;
    struct report report;
    sample_start(&report);
    assert_int_equal(report_format_svg.write(&report, stdout), EXIT_WRONG);
    assert_string_equal(complaint(), "svg: there is no result to draw");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_json),
        cmocka_unit_test(numbers_families),
        cmocka_unit_test(writes_valid_json_of_anything),
        cmocka_unit_test(draws_bars),
        cmocka_unit_test(draws_curves),
        cmocka_unit_test(draws_anything),
        cmocka_unit_test(refuses_to_draw_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
