/* What the formats have in common: finding the file, its format, and the form that one stores. */

#include "format_helpers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_not_read(const char *path, const char *part)
{
    struct tensor tensor;
    assert_int_equal(format_read(path, &tensor), EXIT_BAD);
    if (!strstr(complaint(), part))
        fail_msg("\"%s\" instead of \"%s\"", complaint(), part);
    assert_null(tensor.values);
}

static void refuses_what_is_no_weight_file(void **state)
{
    (void)state;
    assert_refused("", 0, "the file is empty");
    assert_text_refused("PK", "its content is none of npy, npz, smtx, mtx");
    assert_text_refused("%MatrixMarket", "none of");
    assert_text_refused("\x93NUMP", "none of");
    assert_text_refused(" \n ", "none of");
    assert_not_read("/nonexistent", "No such file");
    assert_not_read("/", "Is a directory");
    assert_not_read("/dev/null", "empty");
    assert_not_read("/dev/zero", "none of"); /* it has no end */
}

/* Writes `rows` rows of one nonzero each; the file is longer than any first read. */
static void write_pattern(int descriptor, int rows)
{
    FILE *const file = fdopen(descriptor, "w");
    fprintf(file, "%d, %d, %d\n", rows, rows, rows);
    for (int i = 0; i <= rows; i++)
        fprintf(file, "%d ", i);
    for (int i = 0; i < rows; i++)
        fprintf(file, "%d ", rows - 1 - i);
    fclose(file);
}

static void assert_pattern(const char *path, int rows)
{
    struct tensor tensor;
    if (format_read(path, &tensor) != EXIT_DONE)
        fail_msg("%s", complaint());
    assert_int_equal(tensor_count(&tensor), rows);
    for (int i = 0; i < rows; i++)
        assert_int_equal(tensor.indices[i], rows - 1 - i);
    tensor_free(&tensor);
}

static void reads_files_of_any_size(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 100000; rows *= 10) {
        char path[] = "/tmp/csrconv-npy-XXXXXX";
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        write_pattern(descriptor, rows);
        assert_pattern(path, rows);
        unlink(path);
    }
}

static void reads_pipes(void **state)
{
    int ends[2], status;
    char path[32];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        write_pattern(ends[1], 50000);
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_pattern(path, 50000);
    close(ends[0]);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
}

static void chooses_the_output_by_its_extension(void **state)
{
    const struct format *format;
    (void)state;
    assert_int_equal(format_for_output("w.npy", &format), EXIT_DONE);
    assert_ptr_equal(format, format_named("npy"));
    assert_int_equal(format_for_output("a.b/w.NPZ", &format), EXIT_DONE);
    assert_ptr_equal(format, format_named("npz"));
    assert_int_equal(format_for_output("w.mtx", &format), EXIT_DONE);
    assert_ptr_equal(format, format_named("mtx"));
    assert_int_equal(format_for_output("w.smtx", &format), EXIT_BAD); /* would lose the values */
    assert_string_equal(
        complaint(), "w.smtx: the name of a weight file to write ends in one of .npy, .npz, .mtx");
    assert_int_equal(format_for_output("npy", &format), EXIT_BAD);
    assert_int_equal(format_for_output("", &format), EXIT_BAD);
    assert_null(format_named("gif"));
}

static void converts_between_arrays_and_matrices(void **state)
{
    const int64_t dims[] = { 2, 1, 2, 2 };
    const float values[] = { 0.0F, 1.5F, -0.0F, -2.0F, 0.0F, 0.0F, 3.0F, 0.0F };
    struct tensor oihw, matrix, array;
    (void)state;
    assert_int_equal(tensor_make_dense("t", 4, dims, &oihw), EXIT_DONE);
    memcpy(oihw.values, values, sizeof values);
    for (int i = 0; i < 2; i++) {
        write_and_read(i == 0 ? "npz" : "mtx", &oihw, &matrix);
        assert_csr(&matrix, 2, 4, (const int64_t[]){ 0, 2, 3 }, (const int32_t[]){ 1, 3, 2 },
                   (const float[]){ 1.5F, -2.0F, 3.0F });
        write_and_read("npy", &matrix, &array);
        assert_int_equal(array.rank, 2);
        assert_int_equal(array.dims[1], 4);
        for (int k = 0; k < 8; k++)
            assert_true(array.values[k] == values[k]);
        tensor_free(&matrix);
        tensor_free(&array);
    }
    tensor_free(&oihw);
}

static void refuses_what_a_format_cannot_store(void **state)
{
    struct tensor tensor;
    (void)state;
    assert_int_equal(tensor_make_dense("t", 0, NULL, &tensor), EXIT_DONE);
    tensor.values[0] = 1.0F;
    assert_int_equal(format_write(format_named("mtx"), "w.mtx", &tensor, stdout), EXIT_BAD);
    assert_string_equal(complaint(), "w.mtx: a single number is no matrix");
    tensor_free(&tensor);
    assert_text_read("1, 1, 1\n0 1\n0\n", &tensor);
    assert_int_equal(format_write(format_named("npy"), "w.npy", &tensor, stdout), EXIT_BAD);
    assert_string_equal(complaint(), "w.npy: there is a pattern to write, but no values");
    tensor_free(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_weight_file),
        cmocka_unit_test(reads_files_of_any_size),
        cmocka_unit_test(reads_pipes),
        cmocka_unit_test(chooses_the_output_by_its_extension),
        cmocka_unit_test(converts_between_arrays_and_matrices),
        cmocka_unit_test(refuses_what_a_format_cannot_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
