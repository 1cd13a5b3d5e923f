/*
 * Where the words of a tile come from and go to, worked out ahead for every tile of an image's
 * plane: host code, without a call of CUDA's.
 */
#ifndef CSRCONV_CUDA_TILE_TABLES_H
#define CSRCONV_CUDA_TILE_TABLES_H

#include "memory.h"
#include "patch.h"

/* All tiles have as many entries; tiles count by columns, then rows. -1: nowhere. */
struct csrconv_tile_tables {
    /*
     * For each word of a channel of the patch, the input element that it holds, counted from the
     * channel's plane in the tile's first image; -1: a border's zero, or nothing.
     */
    int32_t *source;
    /* For each of the tile's words, the output, counted from a filter's plane in that image. */
    int32_t *output;
    int64_t sources, outputs; /* in all */
};

/* Entries of the source table; -1 if offsets or entries are more than such tables have. */
int64_t csrconv_tile_sources(const struct csrconv_shape *shape, const struct csrconv_patch *patch);

/*
 * For tiles of `words` words, of a patch of single-float copies for which csrconv_tile_sources is
 * not negative. After a failure the caller frees what was made.
 */
csrconv_status csrconv_tile_tables_make(const struct csrconv_shape *shape,
                                        const struct csrconv_patch *patch, int64_t words,
                                        struct csrconv_memory *memory,
                                        struct csrconv_tile_tables *tables);
void csrconv_tile_tables_free(const struct csrconv_memory *memory,
                              struct csrconv_tile_tables *tables);

#endif
