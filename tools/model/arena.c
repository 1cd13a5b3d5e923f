#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, USUAL_BLOCK = 16 << 10 };

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* of the bytes behind the header */
};

enum { HEADER = (sizeof(struct arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    const size_t size = bytes > USUAL_BLOCK ? bytes : USUAL_BLOCK;
    if (size > SIZE_MAX - HEADER)
        return NULL;
    struct arena_block *const block = calloc(1, HEADER + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, ALIGNMENT - 1, &bytes))
        return NULL;
    bytes -= bytes % ALIGNMENT;
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes)
        block = add_block(arena, bytes);
    if (!block)
        return NULL;
    char *const place = (char *)block + HEADER + block->used;
    block->used += bytes;
    return place;
}

char *arena_text(struct arena *arena, const void *bytes, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *const text = arena_take(arena, size + 1, 1);
    if (text && size)
        memcpy(text, bytes, size);
    return text;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *const next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
