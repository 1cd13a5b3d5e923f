/* The .npy header, shared by .npy files and the members of .npz. */
#ifndef CSRCONV_TOOLS_FORMAT_NPY_HEADER_H
#define CSRCONV_TOOLS_FORMAT_NPY_HEADER_H

#include "tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NPY_MAX_HEADER =
        1 << 16,           /* bytes of a header that are worth reading; numpy's own limit is 10^4 */
    NPY_MAX_ITEM = 1 << 16 /* bytes of an element */
};

struct npy_header {
    char descr[24];  /* the dtype as written, such as "<f4" */
    char kind;       /* its letter: 'f', 'i', 'S', ... */
    bool big_endian; /* false too where it does not matter */
    int item_size;   /* bytes */
    bool fortran_order;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    int64_t count;     /* the product of dims */
    size_t offset;     /* of the first element in the file */
    size_t total_size; /* offset + count * item_size: what the file must have */
};

bool npy_probe(const uint8_t *data, size_t size);

/*
 * Reads the header at the start of data. total_size is not compared with size, since data may be
 * just the beginning of the file.
 */
int npy_parse_header(const char *name, const uint8_t *data, size_t size, struct npy_header *out);

/* Writes the header of a C-ordered array, padded as numpy does; returns its size. */
enum { NPY_WRITTEN_HEADER = 320 };
size_t npy_format_header(uint8_t out[NPY_WRITTEN_HEADER], const char *descr, int rank,
                         const int64_t *dims);

#endif
