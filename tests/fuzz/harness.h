/* What the fuzz targets, one per format, have in common. */
#ifndef CSRCONV_TESTS_FUZZ_HARNESS_H
#define CSRCONV_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the input as that format and aborts if a promise is broken: what is refused has one line
 * that says why; what is accepted is a valid tensor, and comes back the same after it was written.
 */
void fuzz_format(const char *name, const uint8_t *data, size_t size);

/* The target, that libFuzzer or replay.c calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
