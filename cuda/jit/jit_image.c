#include "jit_image.h"

csrconv_status csrconv_jit_image_make(const struct csrconv_jit_tiling *tiling, int64_t code_bytes,
                                      struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image)
{
    const csrconv_status status =
        csrconv_allocate(memory, (int64_t)sizeof **image + code_bytes, 1, (void **)image);
    if (status)
        return status;
    (*image)->tiling = *tiling;
    (*image)->code_bytes = code_bytes;
    return CSRCONV_OK;
}
