/* What the tests of the formats share. */
#ifndef CSRCONV_TESTS_FORMAT_HELPERS_H
#define CSRCONV_TESTS_FORMAT_HELPERS_H

#include "complain.h"
#include "format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Bytes of a file that is put together. */
struct bytes {
    uint8_t data[4096];
    size_t size;
};

void append(struct bytes *bytes, const void *data, size_t size);

/* An .npy file of version 1.0 with that dict. */
struct bytes npy_bytes(const char *dict, const void *payload, size_t size);

/* Reads from a copy of exactly that size, so that a sanitizer sees every byte too far. */
int read_bytes(const void *data, size_t size, struct tensor *out);

/* The file is refused with EXIT_BAD and one line that has `part` in it. */
void assert_refused(const void *data, size_t size, const char *part);
void assert_text_refused(const char *text, const char *part);

void assert_text_read(const char *text, struct tensor *out);

void assert_csr(const struct tensor *csr, int64_t rows, int64_t cols, const int64_t *indptr,
                const int32_t *indices, const float *values);
void assert_floats(const float *got, const float *want, int64_t count); /* bit for bit */

/* Writes the tensor in the format of that name and reads it again. */
void write_and_read(const char *format, const struct tensor *tensor, struct tensor *out);

#endif
