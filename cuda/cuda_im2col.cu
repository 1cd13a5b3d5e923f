#include "cuda_im2col.h"

#include "divisor.h"

enum { THREADS = 128, CHANNELS = 8, SIDE = 32, SIDE_ROWS = 8, SIDE_COLUMNS = 8 * SIDE };

/* Blocks that keep the largest GPU busy. */
static const int64_t enough_blocks = 2048;

struct lower_args {
    const float *in;
    float *lowered;
    csrconv_strides to;
    int64_t channels, height, width, plane, in_batch_stride;
    int64_t kernel_h, kernel_w, dilation_h, dilation_w, stride_h, stride_w, pad_top, pad_left;
    int64_t out_w, out_plane;
    int64_t pixels;               /* of all images */
    int64_t rows;                 /* CSR columns of all groups */
    int64_t tiles, slices, slice; /* of pixels; of channels or rows, and how many are in one */
    csrconv_divisor by_kernel, by_kernel_w;
};

/* Where the window of a pixel begins, possibly outside of the image. */
template <typename index> struct window {
    int64_t from; /* floats from a.in */
    int64_t to;   /* floats from a.lowered */
    index top, left;
};

template <typename index>
static __device__ __forceinline__ window<index> locate(const lower_args &a, index pixel)
{
    const index image = pixel / static_cast<index>(a.out_plane);
    const index in_image = pixel - image * static_cast<index>(a.out_plane);
    const index y = in_image / static_cast<index>(a.out_w);
    const index x = in_image - y * static_cast<index>(a.out_w);
    window<index> w;
    w.top = y * static_cast<index>(a.stride_h) - static_cast<index>(a.pad_top);
    w.left = x * static_cast<index>(a.stride_w) - static_cast<index>(a.pad_left);
    w.from = image * a.in_batch_stride + w.top * a.width + w.left;
    w.to = image * a.to.image + in_image * a.to.pixel;
    return w;
}

template <typename index>
static __device__ __forceinline__ bool is_inside(const lower_args &a, const window<index> &w,
                                                 index down, index right)
{
    const index y = w.top + down, x = w.left + right;
    return y >= 0 && y < static_cast<index>(a.height) && x >= 0 && x < static_cast<index>(a.width);
}

/* By itself ptxas takes so few registers for sm_80 that it spills. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define LOWER_BOUNDS __launch_bounds__(THREADS, 8)
#else
#define LOWER_BOUNDS __launch_bounds__(THREADS)
#endif

/*
 * Pixels are together: lanes are neighbouring pixels, a thread walks the kernel's positions, and
 * for each of them some channels, which differ by constant steps on both sides.
 */
template <typename index> static __global__ void LOWER_BOUNDS lower_by_row(const lower_args a)
{
    const int64_t kernel = a.kernel_h * a.kernel_w, row_step = kernel * a.to.row;
    for (int64_t block = blockIdx.x; block < a.tiles * a.slices; block += gridDim.x) {
        const int64_t slice = block / a.tiles, channel = slice * a.slice;
        const int64_t pixel = (block - slice * a.tiles) * THREADS + threadIdx.x;
        const int channels = static_cast<int>(min(a.slice, a.channels - channel));
        if (pixel >= a.pixels)
            continue;
        const window<index> w = locate<index>(a, static_cast<index>(pixel));
        float *to = a.lowered + w.to + channel * row_step;
        for (index r = 0; r < static_cast<index>(a.kernel_h); r++)
            for (index s = 0; s < static_cast<index>(a.kernel_w); s++, to += a.to.row) {
                const index down = r * static_cast<index>(a.dilation_h);
                const index right = s * static_cast<index>(a.dilation_w);
                const bool inside = is_inside(a, w, down, right);
                const float *from =
                    a.in + (inside ? w.from + down * a.width + right : 0) + channel * a.plane;
#pragma unroll 4
                for (int c = 0; c < channels; c++)
                    to[c * row_step] = inside ? __ldg(from + c * a.plane) : 0.0F;
            }
    }
}

/* The input that belongs to a row, which is (channel, r, s) in one number. */
static __device__ __forceinline__ float load_row(const lower_args &a, const window<int32_t> &w,
                                                 int32_t row)
{
    const int32_t kernel = static_cast<int32_t>(a.kernel_h * a.kernel_w);
    const int32_t c = csrconv_divide(a.by_kernel, row), position = row - c * kernel;
    const int32_t r = csrconv_divide(a.by_kernel_w, position);
    const int32_t s = position - r * static_cast<int32_t>(a.kernel_w);
    const int32_t down = r * static_cast<int32_t>(a.dilation_h);
    const int32_t right = s * static_cast<int32_t>(a.dilation_w);
    if (!is_inside(a, w, down, right))
        return 0.0F;
    return __ldg(a.in + w.from + c * a.plane + down * a.width + right);
}

static __device__ __forceinline__ float load_row(const lower_args &a, const window<int64_t> &w,
                                                 int64_t row)
{
    const int64_t kernel = a.kernel_h * a.kernel_w;
    const int64_t c = row / kernel, position = row - c * kernel;
    const int64_t r = position / a.kernel_w, s = position - r * a.kernel_w;
    if (!is_inside(a, w, r * a.dilation_h, s * a.dilation_w))
        return 0.0F;
    return __ldg(a.in + w.from + c * a.plane + r * a.dilation_h * a.width + s * a.dilation_w);
}

/*
 * Rows are together: read as above, with neighbouring pixels in the lanes, and turned in shared
 * memory, so that what is written is together too.
 */
template <typename index>
static __global__ void __launch_bounds__(SIDE *SIDE_ROWS) lower_by_pixel(const lower_args a)
{
    __shared__ float turn[SIDE][SIDE + 1];
    for (int64_t block = blockIdx.x; block < a.tiles * a.slices; block += gridDim.x) {
        const int64_t tile = block / a.slices, first = tile * SIDE;
        const int64_t begin = (block - tile * a.slices) * a.slice;
        const int64_t end = min(begin + a.slice, a.rows);
        const int64_t pixel = min(first + threadIdx.x, a.pixels - 1);
        const window<index> w = locate<index>(a, static_cast<index>(pixel));
        for (int64_t at = begin; at < end; at += SIDE) {
#pragma unroll
            for (int i = threadIdx.y; i < SIDE; i += SIDE_ROWS)
                turn[i][threadIdx.x] =
                    at + i < end ? load_row(a, w, static_cast<index>(at + i)) : 0.0F;
            __syncthreads();
#pragma unroll
            for (int i = threadIdx.y; i < SIDE; i += SIDE_ROWS)
                if (first + i < a.pixels && at + threadIdx.x < end)
                    a.lowered[(first + i) * a.to.pixel + at + threadIdx.x] = turn[threadIdx.x][i];
            __syncthreads();
        }
    }
}

static lower_args args_of(const struct csrconv_shape *shape, const csrconv_lowering *lowering,
                          int64_t n)
{
    const csrconv_geometry *g = &shape->g;
    lower_args a = {};
    a.to = lowering->lowered;
    a.channels = g->channels;
    a.height = g->height;
    a.width = g->width;
    a.plane = shape->plane;
    a.in_batch_stride = g->in_batch_stride;
    a.kernel_h = g->kernel_h;
    a.kernel_w = g->kernel_w;
    a.dilation_h = g->dilation_h;
    a.dilation_w = g->dilation_w;
    a.stride_h = g->stride_h;
    a.stride_w = g->stride_w;
    a.pad_top = g->pad_top;
    a.pad_left = g->pad_left;
    a.out_w = shape->out_w;
    a.out_plane = shape->out_plane;
    a.pixels = n * shape->out_plane;
    a.rows = g->groups * shape->columns;
    return a;
}

/* Whether pixels, rows and positions inside the padded image all count in 32 bits. */
static bool is_small(const struct csrconv_shape *shape, const lower_args *a)
{
    return a->pixels + THREADS < INT32_MAX && a->rows + SIDE < INT32_MAX &&
           shape->padded_h < INT32_MAX / 2 && shape->padded_w < INT32_MAX / 2;
}

/* Fewer channels to a block where there would be too few blocks. */
static void cut_channels(lower_args *a)
{
    a->tiles = (a->pixels - 1) / THREADS + 1;
    a->slice = CHANNELS;
    while (a->slice > 1 && a->tiles * ((a->channels - 1) / a->slice + 1) < enough_blocks)
        a->slice /= 2;
    a->slices = (a->channels - 1) / a->slice + 1;
}

static void cut_rows(lower_args *a)
{
    a->tiles = (a->pixels - 1) / SIDE + 1;
    a->slice = SIDE_COLUMNS;
    while (a->slice > SIDE && a->tiles * ((a->rows - 1) / a->slice + 1) < enough_blocks)
        a->slice /= 2;
    a->slices = (a->rows - 1) / a->slice + 1;
}

csrconv_status csrconv_cuda_im2col(const struct csrconv_shape *shape,
                                   const struct csrconv_lowering *lowering, int64_t n,
                                   const float *in, float *lowered, void *stream)
{
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    lower_args a = args_of(shape, lowering, n);
    const bool small = is_small(shape, &a), by_row = lowering->lowered.pixel == 1;
    a.in = in;
    a.lowered = lowered;
    if (small) {
        a.by_kernel = csrconv_divisor_of(a.kernel_h * a.kernel_w);
        a.by_kernel_w = csrconv_divisor_of(a.kernel_w);
    }
    if (by_row)
        cut_channels(&a);
    else
        cut_rows(&a);
    const unsigned grid = csrconv_cuda_grid(a.tiles * a.slices);
    const dim3 square(SIDE, SIDE_ROWS);
    if (by_row && small)
        lower_by_row<int32_t><<<grid, THREADS, 0, queue>>>(a);
    else if (by_row)
        lower_by_row<int64_t><<<grid, THREADS, 0, queue>>>(a);
    else if (small)
        lower_by_pixel<int32_t><<<grid, square, 0, queue>>>(a);
    else
        lower_by_pixel<int64_t><<<grid, square, 0, queue>>>(a);
    return csrconv_cuda_launched("im2col");
}
