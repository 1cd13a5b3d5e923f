/*
 * The weights as the blocks of cuda_split read them: one list for each filter tile and chunk of
 * channels, of the same length for all, so that a block knows where its own lies and brings it in
 * one go. Host code, without a call of CUDA's.
 *
 * A tile has places for filters, dealt such that every chunk of every tile has about as many
 * nonzeros. What a filter has in a chunk is a segment. Within a chunk segments are dealt to the
 * warps such that all have about as much to do, so a warp has other places, and other numbers of
 * them, in another chunk.
 *
 * A list begins with words (csrconv_find_list_words): for each warp, and once more for the end,
 * where in the list its quads begin, shifted up by CSRCONV_FIRST_BITS, and its first segment; of
 * the segments of all warps in turn the quads, shifted up by CSRCONV_PLACE_BITS, and the place; the
 * filters of the places, -1 for none; their biases. The warps' quads follow, segment by segment,
 * and last of each warp one that adds nothing.
 */
#ifndef CSRCONV_CUDA_CHUNK_LISTS_H
#define CSRCONV_CUDA_CHUNK_LISTS_H

#include "quads.h"
#include "split_tiling.h"

enum { CSRCONV_PLACE_BITS = 8, CSRCONV_FIRST_BITS = 8 };

struct csrconv_chunk_lists {
    int64_t count; /* filter tiles of all groups, times chunks, which count faster */
    int64_t pitch; /* quads from a list to the next */
    struct csrconv_quad *quads;
};

/* Where the words at a list's head are. */
struct csrconv_list_words {
    int64_t segment, filter, bias, count;
};

struct csrconv_list_words csrconv_find_list_words(const struct csrconv_split_tiling *tiling);

/* Quads that the words take. */
int64_t csrconv_chunk_list_head(const struct csrconv_split_tiling *tiling);

/* After a failure the caller frees what was made. */
csrconv_status csrconv_chunk_lists_make(const struct csrconv_problem *problem,
                                        const struct csrconv_split_tiling *tiling,
                                        struct csrconv_memory *memory,
                                        struct csrconv_chunk_lists *lists);
void csrconv_chunk_lists_free(const struct csrconv_memory *memory,
                              struct csrconv_chunk_lists *lists);

#endif
