/* What a weight or activation file holds once it is read: an array, or a matrix in CSR. */
#ifndef CSRCONV_TOOLS_FORMAT_TENSOR_H
#define CSRCONV_TOOLS_FORMAT_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_MAX_RANK = 8 };

/* More filters than any network has; keeps what a small file can claim small. */
#define TENSOR_MAX_ROWS ((int64_t)1 << 24)

enum tensor_kind { TENSOR_DENSE, TENSOR_CSR };

/* The members are owned by the tensor. One that is all zeros is valid for tensor_free. */
struct tensor {
    enum tensor_kind kind;

    int rank; /* of an array */
    int64_t dims[TENSOR_MAX_RANK];

    int64_t rows, cols; /* of a CSR matrix */
    int64_t *indptr;    /* rows + 1, from 0, never falling */
    int32_t *indices;   /* indptr[rows], each in [0, cols), in any order, doubled ones included */

    float
        *values; /* of an array in C order; of a CSR matrix indptr[rows], NULL for a bare pattern */

    char note[160]; /* the conversions made while reading, such as "float64 converted to float32" */
};

/* The product of dims; false if it does not fit. A rank of 0 has one element. */
bool tensor_product(int rank, const int64_t *dims, int64_t *product);

/* The number of elements of an array, or of stored entries of a CSR matrix. */
int64_t tensor_count(const struct tensor *tensor);

/*
 * How many floats the machine's memory holds. Of more, some systems grant the room, and kill the
 * process when it writes there.
 */
int64_t tensor_memory(void);

/* "(3, 4)" as Python writes it; returns text. */
enum { TENSOR_SHAPE_TEXT = TENSOR_MAX_RANK * 22 + 4 };
const char *tensor_shape_text(int rank, const int64_t *dims, char text[TENSOR_SHAPE_TEXT]);

/*
 * Make *out with room for its contents, which are left unset. They return an exit_code and complain
 * about name; the caller has checked that the sizes are no lie.
 */
int tensor_make_dense(const char *name, int rank, const int64_t *dims, struct tensor *out);
int tensor_make_csr(const char *name, int64_t rows, int64_t cols, int64_t count, bool with_values,
                    struct tensor *out);

/* Whether a CSR matrix of that shape can be a filter bank. */
int tensor_check_shape(const char *name, int64_t rows, int64_t cols);

/* Whether the offsets and columns of a CSR matrix that has `count` columns are what they must be.
 */
int tensor_check_csr(const char *name, const struct tensor *csr, int64_t count);

/*
 * The same weights in the other form. A row of the matrix is the first dimension of the array;
 * zeros of either sign are not stored; of doubled columns the last one stays.
 */
int tensor_to_csr(const char *name, const struct tensor *dense, struct tensor *out);
int tensor_to_dense(const char *name, const struct tensor *csr, struct tensor *out);

/* Adds a sentence to the note, after "; " if there is one. */
void tensor_note(struct tensor *tensor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees what the tensor owns and clears it. */
void tensor_free(struct tensor *tensor);

#endif
