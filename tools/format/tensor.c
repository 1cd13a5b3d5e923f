#include "tensor.h"

#include "complain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tensor_product(int rank, const int64_t *dims, int64_t *product)
{
    *product = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] == 0) { /* also where the other dimensions would overflow */
            *product = 0;
            return true;
        }
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*product, dims[i], product))
            return false;
    return true;
}

int64_t tensor_count(const struct tensor *tensor)
{
    int64_t count = 0;
    if (tensor->kind == TENSOR_CSR)
        return tensor->indptr[tensor->rows];
    tensor_product(tensor->rank, tensor->dims, &count);
    return count;
}

int64_t tensor_memory(void)
{
    return sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / (int64_t)sizeof(float));
}

const char *tensor_shape_text(int rank, const int64_t *dims, char text[TENSOR_SHAPE_TEXT])
{
    int used = snprintf(text, TENSOR_SHAPE_TEXT, "(");
    for (int i = 0; i < rank; i++)
        used += snprintf(text + used, (size_t)(TENSOR_SHAPE_TEXT - used), "%s%" PRId64,
                         i > 0 ? ", " : "", dims[i]);
    snprintf(text + used, (size_t)(TENSOR_SHAPE_TEXT - used), rank == 1 ? ",)" : ")");
    return text;
}

static void *allocate_array(int64_t count, size_t item_size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, item_size, &bytes))
        return NULL;
    return malloc(bytes > 0 ? bytes : 1);
}

static int out_of_memory(const char *name, struct tensor *tensor)
{
    tensor_free(tensor);
    return complain(EXIT_WRONG, name, "out of memory");
}

int tensor_make_dense(const char *name, int rank, const int64_t *dims, struct tensor *out)
{
    *out = (struct tensor){ .kind = TENSOR_DENSE, .rank = rank };
    if (rank)
        memcpy(out->dims, dims, (size_t)rank * sizeof *dims);
    out->values = allocate_array(tensor_count(out), sizeof *out->values);
    return out->values ? EXIT_DONE : out_of_memory(name, out);
}

int tensor_make_csr(const char *name, int64_t rows, int64_t cols, int64_t count, bool with_values,
                    struct tensor *out)
{
    *out = (struct tensor){ .kind = TENSOR_CSR, .rows = rows, .cols = cols };
    out->indptr = allocate_array(rows + 1, sizeof *out->indptr);
    out->indices = allocate_array(count, sizeof *out->indices);
    if (with_values)
        out->values = allocate_array(count, sizeof *out->values);
    if (!out->indptr || !out->indices || (with_values && !out->values))
        return out_of_memory(name, out);
    return EXIT_DONE;
}

int tensor_check_shape(const char *name, int64_t rows, int64_t cols)
{
    if (rows < 0 || rows > TENSOR_MAX_ROWS)
        return complain(EXIT_BAD, name, "%" PRId64 " rows; 0 to %" PRId64 " are possible", rows,
                        TENSOR_MAX_ROWS);
    if (cols < 0 || cols > INT32_MAX)
        return complain(EXIT_BAD, name, "%" PRId64 " columns; 0 to %" PRId32 " are possible", cols,
                        INT32_MAX);
    return EXIT_DONE;
}

static int check_offsets(const char *name, const struct tensor *csr, int64_t count)
{
    const int64_t *const indptr = csr->indptr;
    if (indptr[0] != 0)
        return complain(EXIT_BAD, name, "the row offsets start at %" PRId64 ", not at 0",
                        indptr[0]);
    for (int64_t row = 0; row < csr->rows; row++)
        if (indptr[row + 1] < indptr[row])
            return complain(EXIT_BAD, name,
                            "the row offsets fall from %" PRId64 " to %" PRId64 " at row %" PRId64,
                            indptr[row], indptr[row + 1], row);
    if (indptr[csr->rows] != count)
        return complain(EXIT_BAD, name,
                        "the row offsets end at %" PRId64 ", but there are %" PRId64 " nonzeros",
                        indptr[csr->rows], count);
    return EXIT_DONE;
}

int tensor_check_csr(const char *name, const struct tensor *csr, int64_t count)
{
    const int code = check_offsets(name, csr, count);
    if (code != EXIT_DONE)
        return code;
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++)
            if (csr->indices[i] < 0 || csr->indices[i] >= csr->cols)
                return complain(EXIT_BAD, name,
                                "column %" PRId32 " in row %" PRId64 ", but there are %" PRId64
                                " columns",
                                csr->indices[i], row, csr->cols);
    return EXIT_DONE;
}

static int64_t count_nonzeros(const struct tensor *dense)
{
    const int64_t count = tensor_count(dense);
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < count; i++)
        nonzeros += dense->values[i] != 0.0F;
    return nonzeros;
}

static void keep_nonzeros(const struct tensor *dense, struct tensor *csr)
{
    int64_t used = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        const float *const values = dense->values + row * csr->cols;
        csr->indptr[row] = used;
        for (int64_t col = 0; col < csr->cols; col++)
            if (values[col] != 0.0F) {
                csr->indices[used] = (int32_t)col;
                csr->values[used++] = values[col];
            }
    }
    csr->indptr[csr->rows] = used;
}

int tensor_to_csr(const char *name, const struct tensor *dense, struct tensor *out)
{
    *out = (struct tensor){ 0 };
    if (dense->rank == 0)
        return complain(EXIT_BAD, name, "a single number is no matrix");
    int64_t cols;
    if (!tensor_product(dense->rank - 1, dense->dims + 1, &cols))
        cols = INT64_MAX; /* the first dimension is 0; the check below words it */
    int code = tensor_check_shape(name, dense->dims[0], cols);
    if (code == EXIT_DONE)
        code = tensor_make_csr(name, dense->dims[0], cols, count_nonzeros(dense), true, out);
    if (code == EXIT_DONE)
        keep_nonzeros(dense, out);
    return code;
}

int tensor_to_dense(const char *name, const struct tensor *csr, struct tensor *out)
{
    const int64_t dims[] = { csr->rows, csr->cols }; /* 2^24 * 2^31 at the most: no overflow */
    const int code = tensor_make_dense(name, 2, dims, out);
    if (code != EXIT_DONE)
        return code;
    for (int64_t i = 0, count = csr->rows * csr->cols; i < count; i++)
        out->values[i] = 0.0F;
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++)
            out->values[row * csr->cols + csr->indices[i]] = csr->values[i];
    return EXIT_DONE;
}

void tensor_note(struct tensor *tensor, const char *format, ...)
{
    size_t used = strlen(tensor->note);
    if (used > 0)
        used += (size_t)snprintf(tensor->note + used, sizeof tensor->note - used, "; ");
    if (used >= sizeof tensor->note)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tensor->note + used, sizeof tensor->note - used, format, arguments);
    va_end(arguments);
}

void tensor_free(struct tensor *tensor)
{
    free(tensor->indptr);
    free(tensor->indices);
    free(tensor->values);
    *tensor = (struct tensor){ 0 };
}
