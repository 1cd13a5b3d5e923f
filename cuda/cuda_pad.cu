#include "cuda_pad.h"

enum { THREADS = 256 };

struct pad_args {
    const float *in;
    float *padded;
    int64_t channels, height, width, top, left;
    int64_t in_batch_stride, padded_plane, padded_w;
    int64_t planes, plane_blocks; /* blocks of THREADS floats that a padded plane takes */
};

/* A block works on THREADS floats of one padded plane. */
static __global__ void __launch_bounds__(THREADS) pad_planes(const pad_args a)
{
    for (int64_t block = blockIdx.x; block < a.planes * a.plane_blocks; block += gridDim.x) {
        const int64_t plane = block / a.plane_blocks;
        const int64_t at = block % a.plane_blocks * THREADS + threadIdx.x;
        const int64_t y = at / a.padded_w - a.top, x = at % a.padded_w - a.left;
        const float *from =
            a.in + plane / a.channels * a.in_batch_stride + plane % a.channels * a.height * a.width;
        const bool is_inside = y >= 0 && y < a.height && x >= 0 && x < a.width;
        if (at < a.padded_plane)
            a.padded[plane * a.padded_plane + at] =
                is_inside ? __ldg(from + y * a.width + x) : 0.0F;
    }
}

csrconv_status csrconv_cuda_pad_images(const struct csrconv_shape *shape, int64_t n,
                                       const float *in, float *padded, void *stream)
{
    const csrconv_geometry *g = &shape->g;
    const pad_args a = {
        .in = in,
        .padded = padded,
        .channels = g->channels,
        .height = g->height,
        .width = g->width,
        .top = g->pad_top,
        .left = g->pad_left,
        .in_batch_stride = g->in_batch_stride,
        .padded_plane = shape->padded_plane,
        .padded_w = shape->padded_w,
        .planes = n * g->channels,
        .plane_blocks = (shape->padded_plane - 1) / THREADS + 1,
    };
    pad_planes<<<csrconv_cuda_grid(a.planes * a.plane_blocks), THREADS, 0,
                 static_cast<cudaStream_t>(stream)>>>(a);
    return csrconv_cuda_launched("the padding pass");
}

cudaError_t csrconv_cuda_has_code(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, pad_planes);
    if (error)
        (void)cudaGetLastError();
    return error;
}
