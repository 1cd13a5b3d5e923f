#include "model_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_model("safetensors", data, size);
    return 0;
}
