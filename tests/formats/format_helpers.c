#include "format_helpers.h"

#include <stdio.h>
#include <stdlib.h>

void append(struct bytes *bytes, const void *data, size_t size)
{
    assert_true(size <= sizeof bytes->data - bytes->size);
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

struct bytes npy_bytes(const char *dict, const void *payload, size_t size)
{
    struct bytes bytes = { .size = 0 };
    const size_t length = strlen(dict);
    append(&bytes, "\x93NUMPY\1\0", 8);
    append(&bytes, (const uint8_t[]){ length & 0xff, (uint8_t)(length >> 8) }, 2);
    append(&bytes, dict, length);
    append(&bytes, payload, size);
    return bytes;
}

int read_bytes(const void *data, size_t size, struct tensor *out)
{
    uint8_t *const copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, data, size);
    complain_clear();
    const int code = format_read_memory("FILE", copy, size, out);
    free(copy);
    return code;
}

void assert_refused(const void *data, size_t size, const char *part)
{
    struct tensor tensor;
    const int code = read_bytes(data, size, &tensor);
    if (code != EXIT_BAD || !strstr(complaint(), part))
        fail_msg("code %d, \"%s\" instead of 2, \"%s\"", code, complaint(), part);
    assert_int_equal(strncmp(complaint(), "FILE: ", 6), 0);
    assert_null(strchr(complaint(), '\n'));
    assert_null(tensor.values);
    assert_null(tensor.indptr);
    assert_null(tensor.indices);
}

void assert_text_refused(const char *text, const char *part)
{
    assert_refused(text, strlen(text), part);
}

void assert_text_read(const char *text, struct tensor *out)
{
    const int code = read_bytes(text, strlen(text), out);
    if (code != EXIT_DONE)
        fail_msg("refused: %s", complaint());
}

void assert_floats(const float *got, const float *want, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("element %d is %g instead of %g", (int)i, (double)got[i], (double)want[i]);
}

void assert_csr(const struct tensor *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                const int32_t *indices, const float *values)
{
    assert_int_equal(csr->kind, TENSOR_CSR);
    assert_int_equal(csr->rows, rows);
    assert_int_equal(csr->cols, cols);
    for (int64_t i = 0; i <= rows; i++)
        assert_int_equal(csr->indptr[i], indptr[i]);
    for (int64_t i = 0; i < indptr[rows]; i++)
        assert_int_equal(csr->indices[i], indices[i]);
    if (values)
        assert_floats(csr->values, values, indptr[rows]);
    else
        assert_null(csr->values);
}

void write_and_read(const char *format, const struct tensor *tensor, struct tensor *out)
{
    char *data = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&data, &size);
    assert_non_null(stream);
    const int code = format_write(format_named(format), "FILE", tensor, stream);
    assert_int_equal(fclose(stream), 0);
    if (code != EXIT_DONE || read_bytes(data, size, out) != EXIT_DONE)
        fail_msg("%s: %s", format, complaint());
    free(data);
}
