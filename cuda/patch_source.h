/*
 * What each word of a patch in shared memory holds, for kernels whose threads fill it word by word.
 * For host and device.
 */
#ifndef CSRCONV_CUDA_PATCH_SOURCE_H
#define CSRCONV_CUDA_PATCH_SOURCE_H

#include "divisor.h"
#include "patch.h"

/* The layout of one channel of a patch, ready to be divided by. */
struct csrconv_patch_source {
    struct csrconv_divisor by_plane, by_image, by_pitch, by_column_phases;
    int32_t plane, image_pitch, pitch, column_phases;
    int32_t images, words; /* words: of a channel */
    int32_t stride_h, stride_w, dilation_h, dilation_w;
};

/* An element of the patch's part of the input, borders counted. */
struct csrconv_patch_point {
    int32_t image, row, column;
};

/* The patch is one of single-float copies: it has no lead. */
static inline struct csrconv_patch_source csrconv_patch_source_of(const struct csrconv_shape *shape,
                                                                  const struct csrconv_patch *patch)
{
    const csrconv_geometry *g = &shape->g;
    return (struct csrconv_patch_source){
        .by_plane = csrconv_divisor_of(patch->plane),
        .by_image = csrconv_divisor_of(patch->image_pitch),
        .by_pitch = csrconv_divisor_of(patch->pitch),
        .by_column_phases = csrconv_divisor_of(patch->column_phases),
        .plane = (int32_t)patch->plane,
        .image_pitch = (int32_t)patch->image_pitch,
        .pitch = (int32_t)patch->pitch,
        .column_phases = (int32_t)patch->column_phases,
        .images = (int32_t)patch->images,
        .words = (int32_t)patch->channel,
        .stride_h = (int32_t)g->stride_h,
        .stride_w = (int32_t)g->stride_w,
        .dilation_h = (int32_t)(g->dilation_h % g->stride_h),
        .dilation_w = (int32_t)(g->dilation_w % g->stride_w),
    };
}

/* In a plane of the patch: image, row and column of a word. */
static CSRCONV_HOST_DEVICE struct csrconv_patch_point
csrconv_patch_within(const struct csrconv_patch_source *p, int32_t word)
{
    struct csrconv_patch_point point;
    int32_t rest;
    point.image = csrconv_divide(p->by_image, word);
    point.image = point.image < p->images ? point.image : p->images - 1;
    rest = word - point.image * p->image_pitch;
    point.row = csrconv_divide(p->by_pitch, rest);
    point.column = rest - point.row * p->pitch;
    return point;
}

/* What a word of a channel holds; beyond the image it is a border's zero. */
static CSRCONV_HOST_DEVICE struct csrconv_patch_point
csrconv_patch_point_of(const struct csrconv_patch_source *p, int32_t word)
{
    const int32_t plane = csrconv_divide(p->by_plane, word);
    struct csrconv_patch_point point = csrconv_patch_within(p, word - plane * p->plane);
    if (p->stride_h > 1 || p->stride_w > 1) {
        const int32_t r = csrconv_divide(p->by_column_phases, plane);
        const int32_t s = plane - r * p->column_phases;
        point.row = point.row * p->stride_h + r * p->dilation_h % p->stride_h;
        point.column = point.column * p->stride_w + s * p->dilation_w % p->stride_w;
    }
    return point;
}

#endif
