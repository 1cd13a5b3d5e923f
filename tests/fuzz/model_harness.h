/* What the fuzz targets of model files have in common. */
#ifndef CSRCONV_TESTS_FUZZ_MODEL_HARNESS_H
#define CSRCONV_TESTS_FUZZ_MODEL_HARNESS_H

#include "harness.h"

/*
 * Reads the input as a model of that format and aborts if a promise is broken: what is refused has
 * one line that says why; what is accepted is sound, comes back to the byte if nothing changes, and
 * is read again with the same weights after it was pruned and written, also as CSR.
 */
void fuzz_model(const char *format, const uint8_t *data, size_t size);

#endif
