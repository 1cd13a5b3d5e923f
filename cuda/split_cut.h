/*
 * How cuda_split cuts the input channels of a group into chunks: runs of channels with about as
 * much to do, as a cluster's blocks wait for the slowest. Host code, without a call of CUDA's.
 */
#ifndef CSRCONV_CUDA_SPLIT_CUT_H
#define CSRCONV_CUDA_SPLIT_CUT_H

#include "algorithm.h"

enum {
    CSRCONV_MOST_CHUNKS = 8, /* blocks of a cluster, as every GPU with clusters has them */
    CSRCONV_MOST_SLICES = 256
};

/* The nonzeros of each slice of so many channels, of all groups together. */
struct csrconv_slices {
    int64_t channels; /* of a group */
    int64_t slice_channels, count;
    int64_t nonzeros[CSRCONV_MOST_SLICES];
};

struct csrconv_split_cut {
    int64_t
        first[CSRCONV_MOST_CHUNKS + 1]; /* each chunk's first channel, and where the last ends */
    int64_t most_channels;              /* of a chunk */
    double heaviest;                    /* most nonzeros of a chunk, over the mean */
};

void csrconv_slices_init(const struct csrconv_problem *problem, struct csrconv_slices *slices);

/* Both false if there are fewer slices than chunks. No chunk is empty. */
bool csrconv_split_cut(const struct csrconv_slices *slices, int64_t chunks,
                       struct csrconv_split_cut *cut);

/* Of about as many channels each, whatever they hold: where shared memory has no room for more. */
bool csrconv_split_cut_evenly(const struct csrconv_slices *slices, int64_t chunks,
                              struct csrconv_split_cut *cut);

#endif
