#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_format("smtx", data, size);
    return 0;
}
