/* One target per format: it names the format, the harness does the rest. */
#ifndef CSRCONV_TESTS_FUZZ_HARNESS_H
#define CSRCONV_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

extern const char fuzzed_format[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
