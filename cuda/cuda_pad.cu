#include "cuda_pad.h"

enum { THREADS = 256, FLOATS = 4 /* of a thread: one 16-byte store */ };

struct pad_args {
    const float *in;
    float *padded;
    int64_t floats; /* of all padded planes, which stand one behind the other */
    int64_t groups; /* of FLOATS that they take */
    int64_t channels, height, width, top, left;
    int64_t in_batch_stride, padded_plane, padded_h, padded_w;
};

/* A float of the padded planes; index has 32 bits where that is enough, since it is divided. */
template <typename index> struct place {
    const float *from; /* the input plane */
    index plane, y, x;
};

template <typename index>
static __device__ __forceinline__ const float *input_plane(const pad_args &a, index plane)
{
    const index channels = static_cast<index>(a.channels), image = plane / channels;
    return a.in + static_cast<int64_t>(image) * a.in_batch_stride +
           static_cast<int64_t>(plane - image * channels) * a.height * a.width;
}

template <typename index>
static __device__ __forceinline__ place<index> locate(const pad_args &a, index at)
{
    const index size = static_cast<index>(a.padded_plane), width = static_cast<index>(a.padded_w);
    const index plane = at / size, in_plane = at - plane * size, y = in_plane / width;
    return { input_plane<index>(a, plane), plane, y, in_plane - y * width };
}

/* To the next float; that behind the last one is not read. */
template <typename index>
static __device__ __forceinline__ void advance(const pad_args &a, place<index> &p)
{
    if (++p.x < static_cast<index>(a.padded_w))
        return;
    p.x = 0;
    if (++p.y < static_cast<index>(a.padded_h))
        return;
    p.y = 0;
    p.from = input_plane<index>(a, ++p.plane);
}

/* Indices are unsigned: those before the input are beyond its end, too. */
template <typename index>
static __device__ __forceinline__ float load(const pad_args &a, const place<index> &p)
{
    const index y = p.y - static_cast<index>(a.top), x = p.x - static_cast<index>(a.left);
    const bool is_inside = y < static_cast<index>(a.height) && x < static_cast<index>(a.width);
    return is_inside ? __ldg(p.from + (y * static_cast<index>(a.width) + x)) : 0.0F;
}

/* A group that hangs over the end. */
template <typename index>
static __device__ __forceinline__ void pad_end(const pad_args &a, int64_t first)
{
    for (int64_t at = first; at < a.floats; at++)
        a.padded[at] = load(a, locate<index>(a, static_cast<index>(at)));
}

template <typename index>
static __device__ __forceinline__ void pad_group(const pad_args &a, int64_t first)
{
    float4 four;
    place<index> p = locate<index>(a, static_cast<index>(first));
    four.x = load(a, p);
    advance(a, p);
    four.y = load(a, p);
    advance(a, p);
    four.z = load(a, p);
    advance(a, p);
    four.w = load(a, p);
    *reinterpret_cast<float4 *>(a.padded + first) = four;
}

template <typename index>
static __global__ void __launch_bounds__(THREADS) pad_planes(const pad_args a)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    int64_t group = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    for (; group < a.groups; group += step) {
        const int64_t first = group * FLOATS;
        if (first + FLOATS > a.floats)
            pad_end<index>(a, first);
        else
            pad_group<index>(a, first);
    }
}

static pad_args args_of(const struct csrconv_shape *shape, int64_t n, const float *in,
                        float *padded)
{
    const csrconv_geometry *g = &shape->g;
    const int64_t floats = n * shape->padded_image;
    return {
        .in = in,
        .padded = padded,
        .floats = floats,
        .groups = (floats - 1) / FLOATS + 1,
        .channels = g->channels,
        .height = g->height,
        .width = g->width,
        .top = g->pad_top,
        .left = g->pad_left,
        .in_batch_stride = g->in_batch_stride,
        .padded_plane = shape->padded_plane,
        .padded_h = shape->padded_h,
        .padded_w = shape->padded_w,
    };
}

csrconv_status csrconv_cuda_pad_images(const struct csrconv_shape *shape, int64_t n,
                                       const float *in, float *padded, void *stream)
{
    const pad_args a = args_of(shape, n, in, padded);
    const unsigned blocks = csrconv_cuda_grid((a.groups - 1) / THREADS + 1);
    if (a.floats <= UINT32_MAX)
        pad_planes<uint32_t><<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a);
    else
        pad_planes<uint64_t><<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a);
    return csrconv_cuda_launched("the padding pass");
}

cudaError_t csrconv_cuda_has_code(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, pad_planes<uint32_t>);
    if (error)
        (void)cudaGetLastError();
    return error;
}
