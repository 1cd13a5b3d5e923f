/* compare: the join, the verdicts, and the files that it refuses. */
#include "sample.h"

#include "command.h"
#include "complain.h"
#include "report/comparison.h"
#include "report/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct command command_compare;

static char directory[] = "/tmp/csrconv-compare-XXXXXX";
static char old_path[64], new_path[64];

static int make_directory(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(old_path, sizeof old_path, "%s/old.csv", directory);
    snprintf(new_path, sizeof new_path, "%s/new.csv", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink(old_path);
    unlink(new_path);
    return rmdir(directory);
}

static void write_text(const char *path, const char *text)
{
    FILE *const stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void save(struct report *report, const char *path)
{
    assert_int_equal(report_save(report, &report_format_csv, path), EXIT_DONE);
    report_free(report);
}

static void add(struct report *report, const char *layer, const char *algorithm, double median_us,
                const char *version)
{
    struct result result = sample_result(layer, 0.9, algorithm, OWN_SPARSE, median_us);
    result.measurement.version = version;
    sample_add(report, &result);
}

static void write_two_runs(void)
{
    struct report report;
    sample_start(&report);
    add(&report, "net:a", "direct", 100.0, "0.1.0");
    add(&report, "net:b", "direct", 100.0, "0.1.0");
    add(&report, "net:c", "direct", 100.0, "0.1.0");
    add(&report, "net:c", "gone", 100.0, "0.1.0");
    save(&report, old_path);
    sample_start(&report);
    add(&report, "net:c", "direct", 50.0, "0.2.0");
    add(&report, "net:b", "direct", 200.0, "0.2.0");
    add(&report, "net:a", "direct", 100.9, "0.2.0");
    add(&report, "net:a", "fresh", 10.0, "0.2.0");
    save(&report, new_path);
}

static void joins_two_runs(void **state)
{
    (void)state;
    write_two_runs();
    struct report old, fresh;
    report_init(&old);
    report_init(&fresh);
    assert_int_equal(report_read(&old, old_path, comparison_columns), EXIT_DONE);
    assert_int_equal(report_read(&fresh, new_path, comparison_columns), EXIT_DONE);
    char *text;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);
    assert_int_equal(comparison_write(&old, "old", &fresh, "new", stream), EXIT_DONE);
    fclose(stream);
    assert_string_equal(
        text,
        "different version: 0.1.0, then 0.2.0\n"
        "  layer  zeros  setting                       algorithm  old us  new us  new/old\n"
        "  net:c   90 %  batch 1, cpu, 8 threads, hot  direct      100.0   50.00    0.50x  faster\n"
        "  net:b   90 %  batch 1, cpu, 8 threads, hot  direct      100.0   200.0    2.00x  slower\n"
        "  net:a   90 %  batch 1, cpu, 8 threads, hot  direct      100.0   100.9    1.01x  same\n"
        "  net:a   90 %  batch 1, cpu, 8 threads, hot  fresh           -   10.00  only in the new "
        "file\n"
        "  net:c   90 %  batch 1, cpu, 8 threads, hot  gone        100.0       -  only in the old "
        "file\n"
        "direct: 1.00x by the geometric mean of 3; 1 faster, 1 slower, 1 same\n");
    free(text);
    report_free(&old);
    report_free(&fresh);
}

static int compare(char *first, char *second)
{
    char name[] = "compare";
    char *argv[] = { name, first, second };
    return command_compare.run(second ? 3 : 2, argv);
}

static void succeeds_whatever_is_slower(void **state)
{
    (void)state;
    write_two_runs();
    assert_int_equal(compare(old_path, new_path), EXIT_DONE);
}

static void fails_without_a_common_measurement(void **state)
{
    char want[256];
    struct report report;
    (void)state;
    write_two_runs();
    sample_start(&report);
    add(&report, "net:c", "gone", 50.0, "0.2.0");
    add(&report, "net:d", "direct", 50.0, "0.2.0");
    save(&report, old_path);
    assert_int_equal(compare(old_path, new_path), EXIT_BAD);
    snprintf(want, sizeof want, "%s: has no measurement in common with %s", new_path, old_path);
    assert_string_equal(complaint(), want);
}

static void assert_refused(const char *text, const char *want)
{
    char whole[256];
    write_text(old_path, text);
    assert_int_equal(compare(old_path, new_path), EXIT_BAD);
    snprintf(whole, sizeof whole, "%s%s", old_path, want);
    assert_string_equal(complaint(), whole);
}

#define HEADER                                                                                     \
    "name,problem,batch,sparsity,pattern,algorithm,device,math,layout,cache,threads,median_us,"    \
    "q1_us,q3_us,machine,driver,version\n"

static void refuses_bad_files(void **state)
{
    (void)state;
    write_two_runs();
    assert_refused("", ": empty: a CSV file needs a header line");
    assert_refused(HEADER, ": no measurement in it");
    assert_refused("name,problem\na,b\n", ": the header has no column 'batch'");
    assert_refused(HEADER "a,b,1,0.9,r,direct,cpu,fp32,nchw,hot,8,fast,1,1,m,,0\n",
                   ":2:median_us: 'fast' is no finite number");
    assert_refused(HEADER "a,b,1,0.9,r,direct,cpu,fp32,nchw,hot,8,0,1,1,m,,0\n",
                   ":2:median_us: a time of 0 or less");
    assert_refused(HEADER "a,b,1.5,0.9,r,direct,cpu,fp32,nchw,hot,8,1,1,1,m,,0\n",
                   ":2:batch: '1.5' is no whole number");
    assert_refused(HEADER "a,b,1,0.9,r,direct,cpu,fp32,nchw,hot,8,1,1,1,m,,0\n"
                          "a,b,1,0.9,r,direct,cpu,fp32,nchw,hot,8,2,1,1,m,,0\n",
                   ": two rows measure direct of a alike");
}

static void refuses_bad_arguments(void **state)
{
    (void)state;
    assert_int_equal(compare(old_path, NULL), EXIT_BAD);
    assert_string_equal(complaint(), "compare: takes two CSV files, not 1");
    char missing[] = "/nonexistent/old.csv";
    assert_int_equal(compare(missing, missing), EXIT_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_two_runs),
        cmocka_unit_test(succeeds_whatever_is_slower),
        cmocka_unit_test(fails_without_a_common_measurement),
        cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(refuses_bad_arguments),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
