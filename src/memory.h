/* The caller's allocator, with sizes checked and bytes counted. */
#ifndef CSRCONV_MEMORY_H
#define CSRCONV_MEMORY_H

#include "csrconv.h"

enum { CSRCONV_ALIGNMENT = 64 }; /* a cache line, and the widest vector */

struct csrconv_memory {
    csrconv_allocator allocator;
    size_t bytes; /* asked for so far */
};

/* hooks may be NULL: the C library's. CSRCONV_BAD_ARGUMENT if one of the two is missing. */
csrconv_status csrconv_memory_init(struct csrconv_memory *memory, const csrconv_allocator *hooks);

/*
 * *out = count elements of the given size, not cleared, aligned to CSRCONV_ALIGNMENT; a valid
 * pointer also for a count of 0. CSRCONV_OUT_OF_MEMORY, with the bytes in the sentence, also if the
 * product does not fit.
 */
csrconv_status csrconv_allocate(struct csrconv_memory *memory, int64_t count, size_t size,
                                void **out);

/* NULL is accepted. */
void csrconv_release(const struct csrconv_memory *memory, void *block);

#endif
