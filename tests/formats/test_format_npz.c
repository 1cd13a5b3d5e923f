/* .npz of scipy.sparse: made member by member, with any of them missing, lying or damaged. */

#include "format_helpers.h"

#include "archive.h"

#include <stdio.h>
#include <stdlib.h>

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

static const int32_t offsets[] = { 0, 2, 2, 3 };
static const int32_t columns[] = { 3, 0, 1 };
static const int64_t shape[] = { 3, 4 };
static const float values[] = { 0.5F, -2.0F, 3.0F };

struct part {
    const char *name;
    const char *dict;
    const void *payload;
    size_t size;
};

/* The members of a matrix; tests replace single ones. */
enum { INDICES, INDPTR, FORMAT, SHAPE, DATA, PARTS };
static const struct part matrix[PARTS] = {
    { "indices.npy", DICT("<i4", "(3,)"), columns, sizeof columns },
    { "indptr.npy", DICT("<i4", "(4,)"), offsets, sizeof offsets },
    { "format.npy", DICT("|S3", "()"), "csr", 3 },
    { "shape.npy", DICT("<i8", "(2,)"), shape, sizeof shape },
    { "data.npy", DICT("<f4", "(3,)"), values, sizeof values },
};

static void add_bytes(struct new_archive *archive, const char *name, const void *data, size_t size)
{
    uint8_t *const copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    assert_int_equal(archive_add(archive, name, copy, size), EXIT_DONE);
}

static char *finish(struct new_archive *archive, size_t *size)
{
    char *data = NULL;
    FILE *const stream = open_memstream(&data, size);
    assert_non_null(stream);
    assert_int_equal(archive_finish(archive, EXIT_DONE, stream), EXIT_DONE);
    assert_int_equal(fclose(stream), 0);
    return data;
}

/* The matrix with one part replaced, or left out if it has no name; free() the result. */
static char *matrix_with(int which, struct part replacement, size_t *size)
{
    struct new_archive archive;
    assert_int_equal(archive_create("TEST", &archive), EXIT_DONE);
    for (int i = 0; i < PARTS; i++) {
        const struct part part = i == which ? replacement : matrix[i];
        struct bytes file = { .data = "x", .size = 1 };
        if (part.dict)
            file = npy_bytes(part.dict, part.payload, part.size);
        if (part.name)
            add_bytes(&archive, part.name, file.data, file.size);
    }
    return finish(&archive, size);
}

static void assert_reads_with(int which, struct part replacement, const char *note)
{
    const int64_t wide[] = { 0, 2, 2, 3 };
    struct tensor tensor;
    size_t size;
    char *const data = matrix_with(which, replacement, &size);
    if (read_bytes(data, size, &tensor) != EXIT_DONE)
        fail_msg("refused: %s", complaint());
    assert_csr(&tensor, 3, 4, wide, columns, values);
    assert_string_equal(tensor.note, note);
    tensor_free(&tensor);
    free(data);
}

static void assert_refused_with(int which, const char *dict, const void *payload, size_t bytes,
                                const char *part)
{
    size_t size;
    const struct part replacement = { matrix[which].name, dict, payload, bytes };
    char *const data = matrix_with(which, replacement, &size);
    assert_refused(data, size, part);
    free(data);
}

static void reads_every_type(void **state)
{
    const int64_t wide_offsets[] = { 0, 2, 2, 3 }, wide_columns[] = { 3, 0, 1 };
    const int32_t narrow_shape[] = { 3, 4 };
    const double doubles[] = { 0.5, -2.0, 3.0 };
    const uint8_t unicode[] = { 'c', 0, 0, 0, 's', 0, 0, 0, 'r', 0, 0, 0 };
    (void)state;
    assert_reads_with(0, matrix[0], "");
    assert_reads_with(INDPTR, (struct part){ "indptr.npy", DICT("<i8", "(4,)"), wide_offsets, 32 },
                      "");
    assert_reads_with(INDICES,
                      (struct part){ "indices.npy", DICT("<i8", "(3,)"), wide_columns, 24 }, "");
    assert_reads_with(SHAPE, (struct part){ "shape.npy", DICT("<i4", "(2,)"), narrow_shape, 8 },
                      "");
    assert_reads_with(DATA, (struct part){ "data.npy", DICT("<f8", "(3,)"), doubles, 24 },
                      "float64 converted to float32");
    assert_reads_with(FORMAT, (struct part){ "format.npy", DICT("<U3", "()"), unicode, 12 }, "");
}

static void refuses_other_formats(void **state)
{
    const uint8_t unicode[] = { 'd', 0, 0, 0, 'i', 0, 0, 0, 'a', 0, 0, 0 };
    (void)state;
    assert_refused_with(FORMAT, DICT("|S3", "()"), "coo", 3, "in 'coo'; only 'csr' is read");
    assert_refused_with(FORMAT, DICT("|S3", "()"), "bsr", 3, "in 'bsr'");
    assert_refused_with(FORMAT, DICT("<U3", "()"), unicode, 12, "in 'dia'");
    assert_refused_with(FORMAT, DICT("|S0", "()"), "", 0, "in ''");
    assert_refused_with(FORMAT, DICT("<i4", "()"), offsets, 4, "not a string");
    assert_refused_with(FORMAT, DICT("|S3", "(0,)"), "", 0, "not a string");
}

static void refuses_archives_of_something_else(void **state)
{
    struct new_archive archive;
    size_t size;
    const struct bytes file = npy_bytes(DICT("<f4", "(3,)"), values, sizeof values);
    (void)state;
    assert_int_equal(archive_create("TEST", &archive), EXIT_DONE);
    add_bytes(&archive, "conv1.npy", file.data, file.size);
    add_bytes(&archive, "conv2.npy", file.data, file.size);
    char *const data = finish(&archive, &size);
    assert_refused(data, size, "it has: conv1.npy, conv2.npy");
    free(data);
    assert_refused("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "holds no matrix");
}

static void shortens_a_long_list(void **state)
{
    struct new_archive archive;
    size_t size;
    (void)state;
    assert_int_equal(archive_create("TEST", &archive), EXIT_DONE);
    for (int i = 0; i < 60; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%d.weight.npy", i);
        add_bytes(&archive, name, "x", 1);
    }
    char *const data = finish(&archive, &size);
    assert_refused(data, size, "...");
    free(data);
}

static void refuses_missing_members(void **state)
{
    (void)state;
    for (int i = 0; i < PARTS; i++) {
        size_t size;
        char *const data = matrix_with(i, (struct part){ .name = NULL }, &size);
        assert_refused(data, size, i == FORMAT ? "no format.npy" : matrix[i].name);
        free(data);
    }
}

static void refuses_members_that_are_no_arrays(void **state)
{
    (void)state;
    for (int i = 0; i < PARTS; i++) {
        assert_refused_with(i, NULL, NULL, 0, "no .npy header");
        assert_refused_with(i, "{'descr': '<f4'", NULL, 0, "no Python dict");
    }
}

static void refuses_lying_headers(void **state)
{
    (void)state;
    for (int i = 0; i < PARTS; i++) {
        assert_refused_with(i, DICT("<i4", "(1000000000000,)"), offsets, 4, "its header makes");
        assert_refused_with(i, DICT("<f4", "(4611686018427387904,)"), offsets, 4, "too large");
        assert_refused_with(i, DICT("<i4", "(1,)"), offsets, 8, "its header makes");
    }
}

static void refuses_wrong_types_and_counts(void **state)
{
    const int64_t cube[] = { 3, 4, 1 };
    (void)state;
    assert_refused_with(DATA, DICT("<i4", "(3,)"), columns, 12, "'<i4'; float16");
    assert_refused_with(DATA, DICT("<f4", "(2,)"), values, 8, "2 values in 1 dimensions for 3");
    assert_refused_with(DATA, DICT("<f4", "(3, 1)"), values, 12, "3 values in 2 dimensions");
    assert_refused_with(INDICES, DICT("<f4", "(3,)"), values, 12, "'<f4'; int32 or int64");
    assert_refused_with(INDICES, DICT("<i4", "(3, 1)"), columns, 12, "has 2 dimensions");
    assert_refused_with(INDICES, DICT("<i4", "(2,)"), columns, 8, "2 columns");
    assert_refused_with(INDPTR, DICT("<i4", "(3,)"), offsets, 12, "3 row offsets; 3 rows");
    assert_refused_with(SHAPE, DICT("<i8", "(3,)"), cube, 24, "3 sizes");
}

static void refuses_bad_contents(void **state)
{
    const int32_t too_far[] = { 3, 0, 4 }, negative[] = { 3, -1, 0 };
    const int64_t wraps[] = { 3, 0, INT64_C(1) << 32 };
    const int32_t falls[] = { 0, 2, 1, 3 }, late[] = { 1, 2, 2, 3 }, leap[] = { 0, 99, 99, 3 };
    const int64_t rows[] = { INT64_C(1) << 40, 4 }, cols[] = { 3, INT64_C(1) << 31 };
    const int64_t below[] = { -1, 4 };
    (void)state;
    assert_refused_with(INDICES, DICT("<i4", "(3,)"), too_far, 12, "entry 2 is column 4");
    assert_refused_with(INDICES, DICT("<i4", "(3,)"), negative, 12, "entry 1 is column -1");
    assert_refused_with(INDICES, DICT("<i8", "(3,)"), wraps, 24, "entry 2 is column 4294967296");
    assert_refused_with(INDPTR, DICT("<i4", "(4,)"), falls, 16, "fall from 2 to 1 at row 1");
    assert_refused_with(INDPTR, DICT("<i4", "(4,)"), late, 16, "start at 1");
    assert_refused_with(INDPTR, DICT("<i4", "(4,)"), leap, 16, "fall from 99 to 3");
    assert_refused_with(SHAPE, DICT("<i8", "(2,)"), rows, 16, "1099511627776 rows");
    assert_refused_with(SHAPE, DICT("<i8", "(2,)"), cols, 16, "2147483648 columns");
    assert_refused_with(SHAPE, DICT("<i8", "(2,)"), below, 16, "-1 rows");
}

static void refuses_every_truncation_and_survives_damage(void **state)
{
    size_t size;
    char *const data = matrix_with(0, matrix[0], &size);
    (void)state;
    for (size_t cut = 1; cut < size; cut++)
        assert_refused(data, cut, "");
    for (size_t i = 0; i < size; i++) {
        struct tensor tensor;
        data[i] = (char)(data[i] ^ 0x55);
        if (read_bytes(data, size, &tensor) == EXIT_DONE) /* a date, say */
            tensor_free(&tensor);
        data[i] = (char)(data[i] ^ 0x55);
    }
    free(data);
}

/* 100 MB of zeros deflate to less than 500 kB, which is a bomb although every size in it agrees. */
static void refuses_bombs(void **state)
{
    struct new_archive archive;
    size_t size;
    const size_t count = 25000000;
    const struct bytes header = npy_bytes(DICT("<i4", "(25000000,)"), NULL, 0);
    (void)state;
    assert_int_equal(archive_create("TEST", &archive), EXIT_DONE);
    for (int i = 0; i < PARTS; i++) {
        const struct bytes file = npy_bytes(matrix[i].dict, matrix[i].payload, matrix[i].size);
        if (i != INDICES)
            add_bytes(&archive, matrix[i].name, file.data, file.size);
    }
    uint8_t *const bomb = calloc(header.size + 4 * count, 1);
    assert_non_null(bomb);
    memcpy(bomb, header.data, header.size);
    assert_int_equal(archive_add(&archive, "indices.npy", bomb, header.size + 4 * count),
                     EXIT_DONE);
    char *const data = finish(&archive, &size);
    assert_true(size < 500000);
    assert_refused(data, size, "too many for an archive of this size");
    free(data);
}

static void writes_what_it_reads(void **state)
{
    struct tensor tensor, again;
    size_t size;
    char *const data = matrix_with(0, matrix[0], &size);
    (void)state;
    assert_int_equal(read_bytes(data, size, &tensor), EXIT_DONE);
    write_and_read("npz", &tensor, &again);
    assert_csr(&again, 3, 4, tensor.indptr, tensor.indices, tensor.values);
    tensor_free(&tensor);
    tensor_free(&again);
    free(data);
}

static void writes_the_same_bytes_every_time(void **state)
{
    char *data[2] = { NULL };
    size_t size[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        data[i] = matrix_with(0, matrix[0], &size[i]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);
    /* Time 0 and 1980-01-01, so that it does not depend on when the test runs. */
    assert_memory_equal(data[0] + 10, "\0\0\x21\0", 4);
    free(data[0]);
    free(data[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(refuses_other_formats),
        cmocka_unit_test(refuses_archives_of_something_else),
        cmocka_unit_test(shortens_a_long_list),
        cmocka_unit_test(refuses_missing_members),
        cmocka_unit_test(refuses_members_that_are_no_arrays),
        cmocka_unit_test(refuses_lying_headers),
        cmocka_unit_test(refuses_wrong_types_and_counts),
        cmocka_unit_test(refuses_bad_contents),
        cmocka_unit_test(refuses_every_truncation_and_survives_damage),
        cmocka_unit_test(refuses_bombs),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(writes_the_same_bytes_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
