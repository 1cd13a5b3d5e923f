/* Where a plan's tensors live: a table of what has to be done differently there. */
#ifndef CSRCONV_TOOLS_PLACE_H
#define CSRCONV_TOOLS_PLACE_H

#include "csrconv.h"

struct place {
    csrconv_device device;
    /* NULL if there is no room; aligned to 256 bytes. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    /* Return an exit_code, having complained. */
    int (*upload)(void *to, const void *from, size_t bytes);
    int (*download)(void *to, const void *from, size_t bytes);
    /* What executes are queued on: a stream of the process's own; NULL on the CPU. */
    void *(*stream)(void);
    /* Waits for what was queued. */
    int (*finish)(void);
};

extern const struct place place_cpu;
extern const struct place place_cuda; /* in a build with CUDA */

/* The place of a device that plans can be made for. */
const struct place *place_of(csrconv_device device);

#endif
