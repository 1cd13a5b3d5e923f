#include "memory.h"

#include "status.h"

#include <stdint.h>
#include <stdlib.h>

static void *default_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void default_release(void *context, void *block)
{
    (void)context;
    free(block);
}

csrconv_status csrconv_memory_init(struct csrconv_memory *memory, const csrconv_allocator *hooks)
{
    const csrconv_allocator standard = { NULL, default_allocate, default_release };
    if (hooks && (!hooks->allocate || !hooks->release))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "allocator.%s is NULL",
                            hooks->allocate ? "release" : "allocate");
    memory->allocator = hooks ? *hooks : standard;
    memory->bytes = 0;
    return CSRCONV_OK;
}

csrconv_status csrconv_allocate(struct csrconv_memory *memory, int64_t count, size_t size,
                                void **out)
{
    size_t bytes;
    *out = NULL;
    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / size)
        return csrconv_fail(CSRCONV_OUT_OF_MEMORY,
                            "%lld elements of %zu bytes do not fit into the address space",
                            (long long)count, size);
    bytes = count ? (size_t)count * size : size;
    *out = memory->allocator.allocate(memory->allocator.context, bytes, CSRCONV_ALIGNMENT);
    if (!*out)
        return csrconv_fail(CSRCONV_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    memory->bytes += bytes;
    return CSRCONV_OK;
}

void csrconv_release(const struct csrconv_memory *memory, void *block)
{
    if (block)
        memory->allocator.release(memory->allocator.context, block);
}
