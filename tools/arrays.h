/* Files of activations. */
#ifndef CSRCONV_TOOLS_ARRAYS_H
#define CSRCONV_TOOLS_ARRAYS_H

#include "format/tensor.h"

/* Reads an array of any shape; what had to be converted is said on standard error. */
int array_read(const char *path, struct tensor *out);

/* Writes it as npy; - is standard output. */
int array_write(const char *path, const struct tensor *tensor);

#endif
