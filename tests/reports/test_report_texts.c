/* The table and the CSV of made-up reports, to the letter. */
#include "sample.h"

#include "complain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_written(const struct report_format *format, struct report *report,
                           const char *want)
{
    char *const got = sample_write(format, report);
    assert_string_equal(got, want);
    free(got);
    report_free(report);
}

/* Paths are relative to the root of the source. */
static void assert_file(const struct report_format *format, struct report *report, const char *path)
{
    static char want[16384];
    FILE *const stream = fopen(path, "r");
    assert_non_null(stream);
    want[fread(want, 1, sizeof want - 1, stream)] = '\0';
    fclose(stream);
    assert_written(format, report, want);
}

static void shows_layers(void **state)
{
    (void)state;
    struct report report;
    sample_layers(&report);
    assert_file(&report_format_table, &report, "tests/reports/expected/layers.txt");
}

static char *last_line(char *text)
{
    text[strlen(text) - 1] = '\0';
    char *const end = strrchr(text, '\n');
    return end ? end + 1 : text;
}

static void assert_last_line(struct report *report, const char *want)
{
    char *const got = sample_write(&report_format_table, report);
    assert_string_equal(last_line(got), want);
    free(got);
    report_free(report);
}

static void interpolates_where_it_pays(void **state)
{
    (void)state;
    struct report report;
    sample_sweep(&report);
    assert_last_line(&report, "net:a: pays from 80 %; at 90 %: 1.67x over the best dense "
                              "(openblas); at 95 %: 2.50x over the best dense (openblas)");
}

/* Adds an own sparse and a dense result at a sparsity; a time of 0 leaves one out. */
static void add_two(struct report *report, double sparsity, double sparse_us, double dense_us,
                    const char *dense_math)
{
    struct result result = sample_result("net:a", sparsity, "direct", OWN_SPARSE, sparse_us);
    if (sparse_us > 0.0)
        sample_add(report, &result);
    result = sample_result("net:a", sparsity, "onednn", PEER_DENSE, dense_us);
    result.measurement.math = dense_math;
    if (dense_us > 0.0)
        sample_add(report, &result);
}

static void says_where_it_does_not_pay(void **state)
{
    (void)state;
    static const struct {
        double low_us, high_us, dense_us; /* sparse at 50 % and at 90 %; dense at both */
        const char *math, *want;
    } cases[] = {
        { 90.0, 20.0, 100.0, "fp32",
          "net:a: pays from 50 % or less; at 50 %: 1.11x over the best dense (onednn); at 90 %: "
          "5.00x over the best dense (onednn)" },
        { 900.0, 200.0, 100.0, "fp32", "net:a: does not pay up to 90 %: 0.50x of onednn" },
        { 0.0, 200.0, 100.0, "fp32", "net:a: does not pay up to 90 %: 0.50x of onednn" },
        { 90.0, 20.0, 100.0, "tf32",
          "net:a: no dense algorithm in fp32 was measured to compare with" },
        { 90.0, 20.0, 0.0, "fp32",
          "net:a: no dense algorithm in fp32 was measured to compare with" },
        { 0.0, 0.0, 100.0, "fp32", "net:a: no sparse algorithm was measured" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report report;
        sample_start(&report);
        add_two(&report, 0.5, cases[i].low_us, cases[i].dense_us, cases[i].math);
        add_two(&report, 0.9, cases[i].high_us, cases[i].dense_us, cases[i].math);
        assert_last_line(&report, cases[i].want);
    }
}

/* Only of a series of one sparsity: of several, the measurements themselves say it. */
static void adds_what_the_model_says(void **state)
{
    (void)state;
    static const struct {
        double pays_from;
        const char *want;
    } cases[] = {
        { 0.0, "net:a: at 90 %: 2.00x over the best dense (onednn)" },
        { 0.5, "net:a: at 90 %: 2.00x over the best dense (onednn); pays by the cost model from "
               "50 % or less" },
        { 0.71, "net:a: at 90 %: 2.00x over the best dense (onednn); pays by the cost model from "
                "about 75 %" },
        { 0.99, "net:a: at 90 %: 2.00x over the best dense (onednn); pays by the cost model from "
                "about 99 %" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report report;
        struct result result = sample_result("net:a", 0.9, "direct", OWN_SPARSE, 50.0);
        result.pays_from = cases[i].pays_from;
        sample_start(&report);
        sample_add(&report, &result);
        result = sample_result("net:a", 0.9, "onednn", PEER_DENSE, 100.0);
        sample_add(&report, &result);
        assert_last_line(&report, cases[i].want);
    }
}

/* Batches 1 and 2 of one layer. */
static void assert_tells_series_apart(const char *first, const char *second)
{
    struct report report;
    sample_start(&report);
    for (int64_t batch = 1; batch <= 2; batch++) {
        struct result result =
            sample_result("net:a", 0.9, "direct", OWN_SPARSE, 50.0 * (double)batch);
        result.measurement.batch = batch;
        result.measurement.problem = batch == 1 ? first : second;
        sample_add(&report, &result);
        result = sample_result("net:a", 0.9, "openblas", PEER_DENSE, 75.0);
        result.measurement.batch = batch;
        result.measurement.problem = batch == 1 ? first : second;
        sample_add(&report, &result);
    }
    assert_last_line(&report, "net:a (batch 2, cpu, 8 threads, hot): does not pay at 90 %: 0.75x "
                              "of openblas");
}

static void tells_series_apart(void **state)
{
    (void)state;
    assert_tells_series_apart("mb1ic4oc4", "mb2ic4oc4");
    assert_tells_series_apart("g2mb1ic4oc4", "g2mb2ic4oc4");
}

static void writes_csv(void **state)
{
    (void)state;
    struct report report;
    sample_layers(&report);
    assert_file(&report_format_csv, &report, "tests/reports/expected/layers.csv");
}

static void leaves_out_what_is_no_number(void **state)
{
    (void)state;
    struct report report;
    sample_start(&report);
    struct result result = sample_result("net:a", 0.9, "direct", OWN_SPARSE, (double)NAN);
    sample_add(&report, &result);
    assert_int_equal(report.results[0].status, RESULT_FAILED);
    assert_string_equal(report.results[0].reason, "its time is not a positive number");
    result = sample_result("net:a", 0.9, "direct", OWN_SPARSE, 50.0);
    result.measurement.gflops_nnz = (double)NAN;
    result.measurement.gflops_dense = (double)INFINITY;
    sample_add(&report, &result);
    char *const csv = sample_write(&report_format_csv, &report);
    assert_non_null(strstr(csv, ",262144,4096,,,full,"));
    free(csv);
    char *const table = sample_write(&report_format_table, &report);
    assert_null(strstr(table, "nan"));
    assert_null(strstr(table, "inf"));
    free(table);
    report_free(&report);
}

/* A whole network has the sum of its layers beside its time, and nothing else has. */
static void shows_sums_of_layers(void **state)
{
    (void)state;
    struct report report;
    sample_start(&report);
    struct result result = sample_result("net:graph", 0.9, "auto", OWN_SPARSE, 50.0);
    result.layers_us = 61.25;
    sample_add(&report, &result);
    result = sample_result("net:graph", 0.9, "openblas", PEER_DENSE, 100.0);
    sample_add(&report, &result);
    char *const table = sample_write(&report_format_table, &report);
    assert_non_null(strstr(table, "estimate us  sum of layers us  GFLOP/s"));
    assert_non_null(strstr(table, "  61.25  "));
    free(table);
    report_free(&report);
}

static void shows_an_empty_report(void **state)
{
    (void)state;
    struct report report;
    sample_start(&report);
    assert_written(&report_format_table, &report, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_layers),
        cmocka_unit_test(interpolates_where_it_pays),
        cmocka_unit_test(says_where_it_does_not_pay),
        cmocka_unit_test(adds_what_the_model_says),
        cmocka_unit_test(tells_series_apart),
        cmocka_unit_test(writes_csv),
        cmocka_unit_test(leaves_out_what_is_no_number),
        cmocka_unit_test(shows_sums_of_layers),
        cmocka_unit_test(shows_an_empty_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
