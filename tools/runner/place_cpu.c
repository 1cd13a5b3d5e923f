#include "complain.h"
#include "place.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

static void *cpu_allocate(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT);
}

static int cpu_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return EXIT_DONE;
}

static void *cpu_stream(void)
{
    return NULL;
}

static int cpu_finish(void)
{
    return EXIT_DONE;
}

const struct place place_cpu = {
    .device = CSRCONV_DEVICE_CPU,
    .allocate = cpu_allocate,
    .release = free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .stream = cpu_stream,
    .finish = cpu_finish,
};
