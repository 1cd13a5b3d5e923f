/* How a problem is cut for an instruction set: layout, tile, blocks of channels, chunks of filters.
 */
#ifndef CSRCONV_TILING_H
#define CSRCONV_TILING_H

#include "algorithm.h"
#include "tile_isa.h"
#include "tile_pack.h"

struct csrconv_tiling {
    struct csrconv_tile_layout layout;
    /*
     * A tile is a stretch of positions that runs on over the ends of rows (row_tiles = 0); or some
     * columns of one row of outputs or of two, whose inputs overlap more.
     */
    int64_t rows;
    int64_t row_tiles; /* side by side in those rows */
    int64_t tile_vectors;
    int64_t tiles; /* of an image, or of a vector of images */
    int64_t group; /* tiles in a row that are stored together, so that rows are written whole */
    struct csrconv_cut cut;
    int64_t images; /* of an image block: lanes or 1 */
    int64_t wave;   /* image blocks that are laid out before they are computed */
    double cycles;  /* of one thread for one image block, by the model below */
};

/*
 * The best tiling in that layout for `images` images, by a model that counts loads, the lines that
 * come from the second cache, and what each segment costs beside its nonzeros.
 */
csrconv_status csrconv_tiling_choose(const struct csrconv_problem *problem,
                                     const struct csrconv_tile_isa *isa, bool images_in_lanes,
                                     int64_t images, struct csrconv_tiling *tiling);

/* The position at which the vectors of tile i start. */
int64_t csrconv_tiling_load(const struct csrconv_tiling *tiling, const struct csrconv_shape *shape,
                            int64_t i);

/* From there to the position at which the second half of them starts. */
int64_t csrconv_tiling_second(const struct csrconv_tiling *tiling);

/*
 * Where the sums of tile i start, in positions, among those of tiles from `first` on that are
 * stored together; from there to those of its second half; and how many places tiles [first, end)
 * take.
 */
int64_t csrconv_tiling_place(const struct csrconv_tiling *tiling, const struct csrconv_shape *shape,
                             int64_t first, int64_t i);
int64_t csrconv_tiling_second_place(const struct csrconv_tiling *tiling,
                                    const struct csrconv_shape *shape);
int64_t csrconv_tiling_places(const struct csrconv_tiling *tiling,
                              const struct csrconv_shape *shape, int64_t first, int64_t end);

/* The outputs of tiles [first, end), which are stored together; returns how many stretches. */
int64_t csrconv_tiling_find_stretches(const struct csrconv_tiling *tiling,
                                      const struct csrconv_shape *shape, int64_t first, int64_t end,
                                      struct csrconv_stretch_of_row *stretches);

/* At most so many of them for each tile. */
int64_t csrconv_tiling_most_stretches(const struct csrconv_tiling *tiling);

/* Positions of a tile. */
int64_t csrconv_tiling_positions(const struct csrconv_tiling *tiling);

/* How many groups the tiles make. */
int64_t csrconv_tiling_groups(const struct csrconv_tiling *tiling);

#endif
