#include "layout_move.h"

struct csrconv_layout_move csrconv_layout_inwards(const struct csrconv_cuda_format *format,
                                                  const struct csrconv_cuda_images *images)
{
    return (struct csrconv_layout_move){
        .images = images->count,
        .rows = images->channels,
        .columns = images->plane,
        .from_pitch = images->plane,
        .to_pitch = format->is_nhwc ? images->inner_channels : images->plane,
        .from_stride = images->stride,
        .to_stride = images->inner_channels * images->plane,
        .is_transposed = format->is_nhwc,
    };
}

/* The channels of zeros are no columns of the matrix, only of its pitch. */
struct csrconv_layout_move csrconv_layout_outwards(const struct csrconv_cuda_format *format,
                                                   const struct csrconv_cuda_images *images)
{
    return (struct csrconv_layout_move){
        .images = images->count,
        .rows = format->is_nhwc ? images->plane : images->channels,
        .columns = format->is_nhwc ? images->channels : images->plane,
        .from_pitch = format->is_nhwc ? images->inner_channels : images->plane,
        .to_pitch = images->plane,
        .from_stride = images->inner_channels * images->plane,
        .to_stride = images->stride,
        .is_transposed = format->is_nhwc,
    };
}
