/* Matrix Market: coordinate and array files of every kind that is read, and what is refused. */
#include "format_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REAL "%%MatrixMarket matrix coordinate real general\n"

static void assert_reads(const char *text, int64_t rows, int64_t cols, const int64_t *indptr,
                         const int32_t *indices, const float *values, const char *note)
{
    struct tensor tensor;
    assert_text_read(text, &tensor);
    assert_csr(&tensor, rows, cols, indptr, indices, values);
    assert_string_equal(tensor.note, note);
    tensor_free(&tensor);
}

static const int64_t offsets[] = { 0, 2, 2, 3 };
static const int32_t columns[] = { 3, 0, 1 };
static const float values[] = { 0.5F, -2.0F, 1e-3F };

static void reads_entries_in_any_order(void **state)
{
    (void)state;
    assert_reads(REAL "3 4 3\n3 2 1e-3\n1 4 0.5\n1 1 -2\n", 3, 4, offsets, columns, values, "");
    assert_reads(REAL "% a comment\n%\n\n3 4 3\n1 4 5e-1\n3 2 .001\n1 1 -2.0", 3, 4, offsets,
                 columns, values, "");
    assert_reads("%%matrixmarket MATRIX Coordinate REAL General\r\n3 4 3\r\n1 4 0.5\r\n1 1 -2\r\n"
                 "3 2 1e-3\r\n",
                 3, 4, offsets, columns, values, "");
}

static void reads_integers_and_patterns(void **state)
{
    const float integers[] = { 5.0F, -2.0F, 7.0F };
    (void)state;
    assert_reads("%%MatrixMarket matrix coordinate integer general\n3 4 3\n1 4 5\n1 1 -2\n3 2 +7\n",
                 3, 4, offsets, columns, integers, "integers converted to float32");
    assert_reads("%%MatrixMarket matrix coordinate pattern general\n3 4 3\n1 4\n1 1\n3 2\n", 3, 4,
                 offsets, columns, NULL, "");
}

static void mirrors_symmetric_entries(void **state)
{
    const int64_t starts[] = { 0, 2, 3 };
    const int32_t cols[] = { 0, 1, 0 };
    const int64_t skew_starts[] = { 0, 1, 2 };
    const int32_t skew_cols[] = { 1, 0 };
    (void)state;
    assert_reads("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n", 2, 2,
                 starts, cols, (const float[]){ 1.0F, 2.0F, 2.0F }, "symmetric entries mirrored");
    assert_reads("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", 2, 2,
                 starts, cols, NULL, "symmetric entries mirrored");
    assert_reads("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n", 2, 2,
                 skew_starts, skew_cols, (const float[]){ -2.0F, 2.0F },
                 "symmetric entries mirrored");
    assert_text_refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n2 1 2\n",
                        "2 rows and 3 columns are not symmetric");
    assert_text_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 2\n",
                        "line 3: an entry on the diagonal");
}

static void reads_arrays_column_by_column(void **state)
{
    const float want[] = { 1.0F, 3.0F, 5.0F, 2.0F, 4.0F, 6.0F };
    struct tensor tensor;
    (void)state;
    assert_text_read("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", &tensor);
    assert_int_equal(tensor.kind, TENSOR_DENSE);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.dims[0], 2);
    assert_int_equal(tensor.dims[1], 3);
    assert_floats(tensor.values, want, 6);
    tensor_free(&tensor);
    assert_text_read("%%MatrixMarket matrix array real general\n0 2147483647\n", &tensor);
    assert_int_equal(tensor_count(&tensor), 0);
    tensor_free(&tensor);
}

static void reads_the_triangle_of_symmetric_arrays(void **state)
{
    struct tensor tensor;
    (void)state;
    assert_text_read("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", &tensor);
    assert_floats(tensor.values, (const float[]){ 1.0F, 2.0F, 2.0F, 3.0F }, 4);
    tensor_free(&tensor);
    assert_text_read("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n5\n", &tensor);
    assert_floats(tensor.values, (const float[]){ 0.0F, -5.0F, 5.0F, 0.0F }, 4);
    tensor_free(&tensor);
    assert_text_refused("%%MatrixMarket matrix array real symmetric\n1 2\n1\n", "not symmetric");
}

static void leaves_doubled_entries_to_the_library(void **state)
{
    (void)state;
    assert_reads(REAL "1 2 2\n1 2 1\n1 2 2\n", 1, 2, (const int64_t[]){ 0, 2 },
                 (const int32_t[]){ 1, 1 }, (const float[]){ 1.0F, 2.0F }, "");
}

static void keeps_special_values(void **state)
{
    struct tensor tensor;
    (void)state;
    assert_text_read(REAL "1 5 5\n1 1 nan\n1 2 -inf\n1 3 1e39\n1 4 -0\n1 5 1e-46\n", &tensor);
    assert_true(isnan(tensor.values[0]));
    assert_floats(tensor.values + 1, (const float[]){ -INFINITY, INFINITY, -0.0F, 0.0F }, 4);
    assert_string_equal(tensor.note, "1 values beyond float32 became infinite");
    tensor_free(&tensor);
}

static void refuses_other_kinds(void **state)
{
    (void)state;
    assert_text_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
                        "line 1: 'real', 'integer' or 'pattern' expected, not 'complex'");
    assert_text_refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
                        "not 'hermitian'");
    assert_text_refused("%%MatrixMarket vector coordinate real general\n1 1 1\n1 1 1\n",
                        "'matrix' expected, not 'vector'");
    assert_text_refused("%%MatrixMarket matrix array pattern general\n1 1\n1\n",
                        "an array cannot be a pattern");
    assert_text_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
                        "cannot be skew-symmetric");
    assert_text_refused("%%MatrixMarket", "'matrix' expected, not the end of the file");
}

static void refuses_bad_entries(void **state)
{
    (void)state;
    assert_text_refused(REAL "3 4 1\n0 1 1.0\n", "line 3: row 0 is not within 1 to 3");
    assert_text_refused(REAL "3 4 1\n4 1 1.0\n", "line 3: row 4 is not within 1 to 3");
    assert_text_refused(REAL "3 4 1\n1 0 1.0\n", "column 0 is not within 1 to 4");
    assert_text_refused(REAL "3 4 1\n1 5 1.0\n", "column 5 is not within 1 to 4");
    assert_text_refused(REAL "3 4 1\n1 -1 1.0\n", "column -1");
    assert_text_refused(REAL "3 4 1\n1 2.5 3\n", "line 3: column expected, not '2.5'");
    assert_text_refused(REAL "3 4 1\n1 2\n", "a number expected, not the end of the file");
    assert_text_refused(REAL "3 4 1\n1 2 one\n", "a number expected, not 'one'");
    assert_text_refused(REAL "3 4 1\n1 2 1.0x\n", "a number expected, not '1.0x'");
    assert_text_refused(REAL "3 4 1\n1 2 1\n1 3 1\n", "line 4: the end of the file expected");
    assert_text_refused(REAL "3 4 3\n1 2 1.0\n1 3 1.0\n", "row expected, not the end of the file");
    assert_text_refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
                        "an integer expected, not '1.5'");
}

static void refuses_claims_beyond_the_file(void **state)
{
    (void)state;
    assert_text_refused(REAL "3 4 1000000000000\n1 1 1\n", "claims 1000000000000 entries");
    assert_text_refused(REAL "3 4 -1\n1 1 1\n", "claims -1 entries");
    assert_text_refused(REAL "16777216 4 1\n1 1 1\n", "claims 16777216 rows");
    assert_text_refused(REAL "16777217 4 1\n1 1 1\n", "16777217 rows; 0 to 16777216");
    assert_text_refused(REAL "1 2147483648 1\n1 1 1\n", "2147483648 columns");
    assert_text_refused(REAL "x 4 1\n1 1 1\n", "the number of rows expected, not 'x'");
    assert_text_refused("%%MatrixMarket matrix array real general\n16777216 2147483647\n1\n",
                        "cannot hold");
    assert_text_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                        "a number expected, not the end");
}

static void writes_what_it_reads(void **state)
{
    struct tensor tensor, again;
    (void)state;
    assert_text_read(REAL "3 4 4\n3 2 0.1\n1 4 -3.4028235e38\n1 1 1e-45\n3 1 inf\n", &tensor);
    write_and_read("mtx", &tensor, &again);
    assert_csr(&again, 3, 4, tensor.indptr, tensor.indices, tensor.values);
    tensor_free(&tensor);
    tensor_free(&again);
}

static void reads_a_real_file(void **state)
{
    const char path[] =
        "../shared/data/pruned_weights/alexnet_skimcaffe/alexnet_0.56256_l1_conv3.coo";
    struct tensor tensor;
    (void)state;
    FILE *const file = fopen(path, "r");
    if (!file) {
        print_message("skipped: ../shared/data not present\n");
        skip();
    }
    fclose(file);
    assert_int_equal(format_read(path, &tensor), EXIT_DONE);
    assert_int_equal(tensor.rows, 384);
    assert_int_equal(tensor.cols, 2304);
    assert_int_equal(tensor_count(&tensor), 43245);
    tensor_free(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_entries_in_any_order),
        cmocka_unit_test(reads_integers_and_patterns),
        cmocka_unit_test(mirrors_symmetric_entries),
        cmocka_unit_test(reads_arrays_column_by_column),
        cmocka_unit_test(reads_the_triangle_of_symmetric_arrays),
        cmocka_unit_test(leaves_doubled_entries_to_the_library),
        cmocka_unit_test(keeps_special_values),
        cmocka_unit_test(refuses_other_kinds),
        cmocka_unit_test(refuses_bad_entries),
        cmocka_unit_test(refuses_claims_beyond_the_file),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(reads_a_real_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
