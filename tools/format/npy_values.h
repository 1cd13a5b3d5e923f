/* The elements of an .npy array as the types that csrconv works with. */
#ifndef CSRCONV_TOOLS_FORMAT_NPY_VALUES_H
#define CSRCONV_TOOLS_FORMAT_NPY_VALUES_H

#include "npy_header.h"

/* Whether the dtype is float16, float32 or float64; complains if not. */
int npy_check_floats(const char *name, const struct npy_header *header);

/*
 * Fills values, header->count of them in C order, from the elements at data, and notes in `tensor`
 * what had to be converted. The header has passed npy_check_floats.
 */
void npy_load_floats(const struct npy_header *header, const uint8_t *data, float *values,
                     struct tensor *tensor);

/* Whether the array is one-dimensional with int32 or int64 elements; complains if not. */
int npy_check_integers(const char *name, const struct npy_header *header);
int64_t npy_integer(const struct npy_header *header, const uint8_t *data, int64_t index);

#endif
