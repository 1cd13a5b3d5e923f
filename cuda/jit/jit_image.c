#include "jit_image.h"

#include <string.h>

int64_t csrconv_jit_code_room(int64_t bytes)
{
    return (bytes + CSRCONV_JIT_CODE_ALIGNMENT - 1) / CSRCONV_JIT_CODE_ALIGNMENT *
           CSRCONV_JIT_CODE_ALIGNMENT;
}

csrconv_status csrconv_jit_image_make(const struct csrconv_jit_tiling *tiling, int64_t kernels,
                                      int64_t room, struct csrconv_memory *memory,
                                      struct csrconv_jit_image **image)
{
    const int64_t head = csrconv_jit_code_room((int64_t)sizeof **image +
                                               (kernels + 1) * (int64_t)sizeof *(*image)->begin);
    const csrconv_status status = csrconv_allocate(memory, head + room, 1, (void **)image);
    if (status)
        return status;
    memset(*image, 0, (size_t)(head + room));
    (*image)->tiling = *tiling;
    (*image)->bytes = head + room;
    (*image)->begin[0] = head;
    return CSRCONV_OK;
}

void csrconv_jit_image_add(struct csrconv_jit_image *image, const void *code, int64_t bytes)
{
    const int64_t begin = image->begin[image->kernels];
    memcpy((char *)image + begin, code, (size_t)bytes);
    image->begin[++image->kernels] = begin + csrconv_jit_code_room(bytes);
}
