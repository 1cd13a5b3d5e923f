#include "complain.h"
#include "csv_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void reads_cells(void **state)
{
    (void)state;
    const char text[] = "\xef\xbb\xbf\r\nname,\"a \"\"quoted\"\", head\",empty\r\n"
                        "\n\"x, y\",\"two\nlines\",\nplain,12,\"\"";
    struct csv csv;
    bool more;
    assert_int_equal(csv_open(&csv, "test", text, strlen(text)), EXIT_DONE);
    assert_int_equal(csv_column(&csv, "name"), 0);
    assert_int_equal(csv_column(&csv, "a \"quoted\", head"), 1);
    assert_int_equal(csv_column(&csv, "absent"), -1);
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_true(more);
    assert_int_equal(csv.line, 4);
    assert_string_equal(csv_cell(&csv, 0), "x, y");
    assert_string_equal(csv_cell(&csv, 1), "two\nlines");
    assert_string_equal(csv_cell(&csv, 2), "");
    assert_string_equal(csv_cell(&csv, -1), "");
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_true(more);
    assert_int_equal(csv.line, 6);
    assert_string_equal(csv_cell(&csv, 1), "12");
    assert_string_equal(csv_cell(&csv, 2), "");
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_false(more);
    csv_close(&csv);
}

/* Cells and rows far beyond what is allocated first. */
static void reads_long_rows(void **state)
{
    (void)state;
    static char text[200001];
    for (size_t i = 0; i < 100000; i++)
        memcpy(text + 2 * i, i % 50000 == 49999 ? "x\n" : i < 50000 ? "h," : "7,", 2);
    struct csv csv;
    bool more;
    assert_int_equal(csv_open(&csv, "test", text, 200000), EXIT_DONE);
    assert_int_equal(csv.header.count, 50000);
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_true(more);
    assert_string_equal(csv_cell(&csv, 12345), "7");
    assert_string_equal(csv_cell(&csv, 49999), "x");
    csv_close(&csv);
}

struct fault {
    const char *text;
    size_t size; /* 0: that of the text */
    const char *complaint;
};

static const struct fault faults[] = {
    { "", 0, "test: empty" },
    { "\n\r\n", 0, "test: empty" },
    { "a,b\n1\n", 0, "test:2: 1 cells, but the header has 2" },
    { "a,b\n1,2\n\n1,2,3\n", 0, "test:4: 3 cells, but the header has 2" },
    { "a,b\n1,\"2\n3,4\n", 0, "test:2: a quote that is opened in this row is never closed" },
    { "a,b\n1,\"2\"3\n", 0, "test:2: text follows a closing quote" },
    { "a,b\n1,2\"\n", 0, "test:2: a quote in the middle of a cell" },
    { "a\0b\n", 4, "test: not a CSV file" },
};

static void rejects_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct csv csv;
        const size_t size = faults[i].size ? faults[i].size : strlen(faults[i].text);
        complain_clear();
        int code = csv_open(&csv, "test", faults[i].text, size);
        for (bool more = true; code == EXIT_DONE && more;)
            code = csv_next_row(&csv, &more);
        csv_close(&csv);
        if (code != EXIT_BAD ||
            strncmp(complaint(), faults[i].complaint, strlen(faults[i].complaint)) != 0)
            fail_msg("fault %zu: code %d, complaint: %s", i, code, complaint());
    }
}

static void reads_numbers(void **state)
{
    (void)state;
    const char text[] = "i,n,bad\n-7,1e-3,12x\n99999999999999999999,nan,\n";
    struct csv csv;
    bool more;
    int64_t integer;
    double number;
    int column;
    assert_int_equal(csv_open(&csv, "test", text, strlen(text)), EXIT_DONE);
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_int_equal(csv_integer(&csv, 0, -7, &integer), EXIT_DONE);
    assert_int_equal(integer, -7);
    assert_int_equal(csv_number(&csv, 1, &number), EXIT_DONE);
    assert_true(number == 1e-3);
    assert_int_equal(csv_integer(&csv, 0, 0, &integer), EXIT_BAD);
    assert_string_equal(complaint(), "test:2:i: -7 is less than 0");
    assert_int_equal(csv_integer(&csv, 2, 0, &integer), EXIT_BAD);
    assert_string_equal(complaint(), "test:2:bad: '12x' is no whole number");
    assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
    assert_int_equal(csv_integer(&csv, 0, 0, &integer), EXIT_BAD);
    assert_int_equal(csv_integer(&csv, 2, 0, &integer), EXIT_BAD);
    assert_int_equal(csv_number(&csv, 1, &number), EXIT_BAD);
    assert_string_equal(complaint(), "test:3:n: 'nan' is no finite number");
    assert_int_equal(csv_number(&csv, 2, &number), EXIT_BAD);
    assert_int_equal(csv_need_column(&csv, "n", &column), EXIT_DONE);
    assert_int_equal(csv_need_column(&csv, "m", &column), EXIT_BAD);
    assert_string_equal(complaint(), "test: the header has no column 'm'");
    csv_close(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cells),
        cmocka_unit_test(reads_long_rows),
        cmocka_unit_test(rejects_faults),
        cmocka_unit_test(reads_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
