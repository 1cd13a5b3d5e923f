/* .smtx: the layouts seen in the field, and counts, offsets and columns that lie. */
#include "format_helpers.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t offsets[] = { 0, 2, 2, 3 };
static const int32_t columns[] = { 3, 0, 1 };

static void assert_reads(const char *text)
{
    struct tensor tensor;
    assert_text_read(text, &tensor);
    assert_csr(&tensor, 3, 4, offsets, columns, NULL);
    assert_string_equal(tensor.note, "");
    tensor_free(&tensor);
}

static void reads_every_layout(void **state)
{
    (void)state;
    assert_reads("3, 4, 3\n0 2 2 3\n3 0 1\n");
    assert_reads("3 4 3\n0 2 2 3\n3 0 1");
    assert_reads("3,4,3\r\n0 2 2 3 \r\n3 0 1 \r\n");
    assert_reads("3 , 4 , 3\n\n0 2\n2 3\n3 0\n1\n\n");
    assert_reads("\n 3, 4, 3\n0\t2\t2\t3\n3 0 1");
}

static void reads_no_nonzeros_and_no_rows(void **state)
{
    struct tensor tensor;
    (void)state;
    assert_text_read("2, 4, 0\n0 0 0\n\n", &tensor);
    assert_csr(&tensor, 2, 4, (const int64_t[]){ 0, 0, 0 }, columns, NULL);
    tensor_free(&tensor);
    assert_text_read("0, 0, 0\n0\n\n", &tensor);
    assert_csr(&tensor, 0, 0, offsets, columns, NULL);
    tensor_free(&tensor);
}

static void leaves_doubled_columns_to_the_library(void **state)
{
    struct tensor tensor;
    (void)state;
    assert_text_read("1, 4, 2\n0 2\n3 3\n", &tensor);
    assert_csr(&tensor, 1, 4, (const int64_t[]){ 0, 2 }, (const int32_t[]){ 3, 3 }, NULL);
    tensor_free(&tensor);
}

static void refuses_wrong_counts(void **state)
{
    (void)state;
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 0\n", "line 4: column 2 expected, not the end");
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 0 1 1\n", "line 3: '1' after the last of 3 columns");
    assert_text_refused("3, 4, 2\n0 2 2 3\n3 0\n", "end at 3, but there are 2 nonzeros");
    assert_text_refused("3, 4\n", "line 2: size 2 expected");
    assert_text_refused("3, 4, x\n0 2 2 3\n3 0 1\n", "size 2 expected, not 'x'");
    /* A layout that some description tells of, columns by row without offsets, cannot be read. */
    assert_text_refused("3 4 3\n3 0\n\n1\n", "");
}

static void refuses_wrong_offsets_and_columns(void **state)
{
    (void)state;
    assert_text_refused("3, 4, 3\n1 2 2 3\n3 0 1\n", "start at 1");
    assert_text_refused("3, 4, 3\n0 2 1 3\n3 0 1\n", "fall from 2 to 1 at row 1");
    assert_text_refused("3, 4, 3\n0 9 9 3\n3 0 1\n", "fall from 9 to 3 at row 2");
    assert_text_refused("3, 4, 3\n0 -2 2 3\n3 0 1\n", "fall from 0 to -2");
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 0 4\n", "column 2 is 4, but there are 4 columns");
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 -1 1\n", "column 1 is -1");
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 0 4294967296\n", "column 2 is 4294967296");
    assert_text_refused("3, 4, 3\n0 2 2 3\n3 0 1.5\n", "expected, not '1.5'");
    assert_text_refused("3, 4, 3\n0 2 2 3x\n3 0 1\n", "row offset 3 expected, not '3x'");
    assert_text_refused("3, 4, 3\n0 2 2 99999999999999999999\n3 0 1\n", "row offset 3 expected");
}

static void refuses_claims_beyond_the_file(void **state)
{
    (void)state;
    assert_text_refused("16777216, 4, 3\n0 2 2 3\n3 0 1\n", "cannot hold");
    assert_text_refused("3, 4, 1000000000000\n0 2 2 3\n3 0 1\n", "cannot hold");
    assert_text_refused("3, 4, 9223372036854775807\n0 2 2 3\n3 0 1\n", "cannot hold");
    assert_text_refused("16777217, 4, 3\n0 2 2 3\n3 0 1\n", "16777217 rows");
    assert_text_refused("3, 2147483648, 3\n0 2 2 3\n3 0 1\n", "2147483648 columns");
    assert_text_refused("3, -4, 3\n0 2 2 3\n3 0 1\n", "-4 columns");
    assert_text_refused("3, 4, -3\n0 2 2 3\n3 0 1\n", "-3 nonzeros");
}

static void refuses_every_truncation(void **state)
{
    const char text[] = "3, 4, 3\n0 2 2 3\n3 0 1";
    (void)state;
    for (size_t size = 1; size < sizeof text - 1; size++)
        assert_refused(text, size, "");
}

static void reads_a_real_file(void **state)
{
    const char path[] = "../shared/data/dlmc_resnet50/rn50/magnitude_pruning/0.9/initial_conv.smtx";
    struct tensor tensor;
    (void)state;
    FILE *const file = fopen(path, "r");
    if (!file) {
        print_message("skipped: ../shared/data not present\n");
        skip();
    }
    fclose(file);
    assert_int_equal(format_read(path, &tensor), EXIT_DONE);
    assert_int_equal(tensor.rows, 64);
    assert_int_equal(tensor.cols, 147);
    tensor_free(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_layout),
        cmocka_unit_test(reads_no_nonzeros_and_no_rows),
        cmocka_unit_test(leaves_doubled_columns_to_the_library),
        cmocka_unit_test(refuses_wrong_counts),
        cmocka_unit_test(refuses_wrong_offsets_and_columns),
        cmocka_unit_test(refuses_claims_beyond_the_file),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(reads_a_real_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
