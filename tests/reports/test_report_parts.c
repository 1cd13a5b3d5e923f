/* What the writers stand on: statistics, floors, texts fit to be shown, and the progress bar. */
#include "report/floors.h"
#include "report/progress.h"
#include "report/statistics.h"
#include "report/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double got, double want)
{
    assert_true(fabs(got - want) < 1e-12);
}

static void interpolates_quantiles(void **state)
{
    (void)state;
    static const struct {
        double samples[5];
        size_t count;
        struct statistics want;
    } cases[] = {
        { { 3.0 }, 1, { .median = 3.0, .min = 3.0, .q1 = 3.0, .q3 = 3.0 } },
        { { 4.0, 2.0 }, 2, { .median = 3.0, .min = 2.0, .q1 = 2.5, .q3 = 3.5 } },
        { { 9.0, 1.0, 5.0, 3.0 }, 4, { .median = 4.0, .min = 1.0, .q1 = 2.5, .q3 = 6.0 } },
        { { 5.0, 4.0, 100.0, 2.0, 1.0 }, 5, { .median = 4.0, .min = 1.0, .q1 = 2.0, .q3 = 5.0 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double samples[5];
        memcpy(samples, cases[i].samples, sizeof samples);
        const struct statistics got = statistics_of(samples, cases[i].count);
        assert_near(got.median, cases[i].want.median);
        assert_near(got.min, cases[i].want.min);
        assert_near(got.q1, cases[i].want.q1);
        assert_near(got.q3, cases[i].want.q3);
    }
}

static void means_leave_out_what_is_no_positive_number(void **state)
{
    (void)state;
    struct geometric_mean mean = { 0 };
    assert_near(geometric_mean_value(&mean), 0.0);
    geometric_mean_add(&mean, 2.0);
    geometric_mean_add(&mean, 0.0);
    geometric_mean_add(&mean, -1.0);
    geometric_mean_add(&mean, (double)NAN);
    geometric_mean_add(&mean, (double)INFINITY);
    geometric_mean_add(&mean, 8.0);
    assert_near(geometric_mean_value(&mean), 4.0);
    assert_int_equal(mean.count, 2);
}

static void assert_explained(struct floors floors, double us, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    assert_non_null(stream);
    floors_explain(&floors, us, stream);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, want);
    free(text);
}

static void names_the_floor_that_counts(void **state)
{
    (void)state;
    const struct floors sparse = { .multiply_us = 10.0, .load_us = 40.0, .memory_us = 5.0 };
    const struct floors dense = { .multiply_us = 90.0, .memory_us = 5.0 };
    assert_near(floors_highest_us(&sparse), 40.0);
    assert_near(floors_highest_us(&(struct floors){ 0 }), 0.0);
    assert_explained(
        sparse, 50.0,
        "floors: loads 40.00 us (80 % reached), multiply-adds 10.00 us (20 % reached), "
        "device memory 5.000 us (10 % reached); loads from shared memory limit it");
    assert_explained(dense, 100.0,
                     "floors: multiply-adds 90.00 us (90 % reached), device memory 5.000 us (5 % "
                     "reached); multiply-adds limit it");
    assert_explained((struct floors){ .memory_us = 2.0 }, 4.0,
                     "floors: device memory 2.000 us (50 % reached); device memory limits it");
    assert_explained(sparse, 400.0,
                     "floors: loads 40.00 us (10 % reached), multiply-adds 10.00 us (2 % reached), "
                     "device memory 5.000 us (1 % reached); none of them limits it, but latency, "
                     "launches or lanes that idle");
}

static void cleans_texts(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        { "plain, \"quoted\" <&>", "plain, \"quoted\" <&>" },
        { "tab\tline\nescape\033[0m\x7f", "tab?line?escape?[0m?" },
        { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\xc3", "?" },                /* ends within a sequence */
        { "\x80x", "?x" },              /* starts within one */
        { "\xc0\xaf", "??" },           /* longer than need be */
        { "\xed\xa0\x80", "???" },      /* a surrogate */
        { "\xef\xbf\xbe", "???" },      /* not a character of XML */
        { "\xc2\x9b", "??" },           /* a control character beyond ASCII */
        { "\xf4\x90\x80\x80", "????" }, /* beyond Unicode */
        { "\xff", "?" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *const text = text_format("%s", cases[i].from);
        text_clean(text);
        assert_string_equal(text, cases[i].to);
        free(text);
    }
}

static void cuts_between_characters(void **state)
{
    (void)state;
    assert_int_equal(text_width("a\xc3\xa9z"), 3);
    assert_int_equal(text_cut("a\xc3\xa9z", 2), 3);
    assert_int_equal(text_cut("a\xc3\xa9z", 9), 4);
    assert_int_equal(text_cut("a\xc3\xa9z", 0), 0);
}

static void draws_the_bar(void **state)
{
    (void)state;
    char line[PROGRESS_BYTES];
    progress_line(line, 80, 0, 8, 0.0, "net:a");
    assert_string_equal(line, "[....................] 0/8  0:00, -:-- left  net:a");
    progress_line(line, 80, 2, 8, 61.0, "net:b");
    assert_string_equal(line, "[#####...............] 2/8  1:01, 3:03 left  net:b");
    progress_line(line, 80, 8, 8, 3600.0, "\n");
    assert_string_equal(line, "[####################] 8/8  1:00:00, 0:00 left  ?");
    progress_line(line, 48, 2, 8, 61.0, "a name that is too long");
    assert_string_equal(line, "[#####...............] 2/8  1:01, 3:03 left  a n");
}

static void is_silent_on_what_is_no_terminal(void **state)
{
    (void)state;
    FILE *const stream = tmpfile();
    assert_non_null(stream);
    struct progress progress = progress_start(stream, 3);
    progress_show(&progress, 1, "net:a");
    progress_clear(&progress);
    assert_int_equal(ftell(stream), 0);
    fclose(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolates_quantiles),
        cmocka_unit_test(means_leave_out_what_is_no_positive_number),
        cmocka_unit_test(names_the_floor_that_counts),
        cmocka_unit_test(cleans_texts),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(draws_the_bar),
        cmocka_unit_test(is_silent_on_what_is_no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
