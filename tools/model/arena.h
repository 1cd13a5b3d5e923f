/* Memory that is taken in small pieces and given back all at once. */
#ifndef CSRCONV_TOOLS_MODEL_ARENA_H
#define CSRCONV_TOOLS_MODEL_ARENA_H

#include <stddef.h>

struct arena_block;

/* {0} is empty. */
struct arena {
    struct arena_block *blocks;
};

/* Zeroed, aligned for any type; NULL if there is no memory, or the product does not fit. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* A copy of the bytes, ended by NUL. */
char *arena_text(struct arena *arena, const void *bytes, size_t size);

void arena_free(struct arena *arena);

#endif
