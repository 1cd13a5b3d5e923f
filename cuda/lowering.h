/*
 * The lowerings that GEMM and SpMM peers have to choose from: how the lowered matrix and the
 * product lie in memory, and how many images go through them at a time. Host code without CUDA.
 */
#ifndef CSRCONV_CUDA_LOWERING_H
#define CSRCONV_CUDA_LOWERING_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both matrices from the slowest to the fastest index; columns are those of the CSR matrix. */
enum csrconv_lowering_way {
    CSRCONV_LOWER_IMAGES,      /* [image][column][pixel]; products per image, straight to NCHW */
    CSRCONV_LOWER_WIDE,        /* [column][image, pixel]; one product [filter][image, pixel] */
    CSRCONV_LOWER_PIXELS,      /* [image, pixel][column]; products per image, straight to NCHW */
    CSRCONV_LOWER_PIXELS_WIDE, /* [image, pixel][column]; one product [filter][image, pixel] */
    CSRCONV_LOWER_PIXELS_NHWC  /* [image, pixel][column]; one product [image, pixel][filter] */
};

enum { CSRCONV_LOWERING_CHUNKS = 2 };

/* Floats between neighbours; a row is a CSR column of the lowered matrix, a filter of the product.
 */
struct csrconv_strides {
    int64_t image, row, pixel;
};

struct csrconv_lowering {
    enum csrconv_lowering_way way;
    bool is_in_place; /* the lowered matrix of an image is the image */
    int64_t images;   /* in a chunk */
    struct csrconv_strides lowered, product;
    int64_t lowered_floats; /* of a chunk; 0 in place */
    int64_t product_floats; /* of a chunk; 0 if the products go straight to NCHW */
};

/* A lowering by chunks of `images`; the lowered matrix of all groups must not overflow. */
void csrconv_lowering_init(const struct csrconv_shape *shape, enum csrconv_lowering_way way,
                           int64_t images, struct csrconv_lowering *lowering);

/*
 * All that are worth a try: each way with chunks whose lowered matrix stays within the cache, and
 * with the whole batch at once as far as a workspace of 2 GiB goes. `found` has room for
 * CSRCONV_LOWERING_CHUNKS each. Returns their number.
 */
int csrconv_lowering_candidates(const struct csrconv_shape *shape,
                                const enum csrconv_lowering_way *ways, int count,
                                int64_t cache_bytes, struct csrconv_lowering *found);

/*
 * Into how much at a time `all` is cut, so that no part exceeds `most` and all are about equal: a
 * last one of little would leave the GPU idle. A multiple of `step`, which divides `most`, or all.
 */
int64_t csrconv_piece_of(int64_t all, int64_t most, int64_t step);

/* Whether all images of a chunk are in one product. */
static inline bool csrconv_lowering_is_wide(const struct csrconv_lowering *lowering)
{
    return lowering->product_floats > 0;
}

/* Whether a pass of its own lowers the whole batch. */
bool csrconv_lowering_is_whole(const struct csrconv_lowering *lowering,
                               const struct csrconv_shape *shape);

/* Where the product begins in a workspace, and where both end: bytes, aligned to 256. */
size_t csrconv_lowering_product_at(const struct csrconv_lowering *lowering);
size_t csrconv_lowering_bytes(const struct csrconv_lowering *lowering);

/* For people: the layout of the lowered matrix and that of the product. */
const char *csrconv_lowering_name(const struct csrconv_lowering *lowering);

/* CSRCONV_NOT_SUPPORTED if the lowered matrix of one image does not fit into any memory. */
csrconv_status csrconv_lowering_refuse(const struct csrconv_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
