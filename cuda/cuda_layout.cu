#include "cuda_layout.h"

#include <cuda_fp16.h>

enum { THREADS = 256, TILE = 32, TILE_ROWS = THREADS / TILE };

/* Images as matrices of rows * columns elements; strides in elements. */
struct convert_args {
    int64_t images, rows, columns;
    int64_t from_stride, to_stride;
    int64_t row_tiles, blocks; /* of a transposition; blocks that an image takes */
};

static __device__ __forceinline__ void convert(float *to, float from)
{
    *to = from;
}

static __device__ __forceinline__ void convert(__half *to, float from)
{
    *to = __float2half_rn(from);
}

static __device__ __forceinline__ void convert(float *to, __half from)
{
    *to = __half2float(from);
}

/* A block works on THREADS elements of an image. */
template <typename From, typename To>
static __global__ void __launch_bounds__(THREADS)
    copy_images(const convert_args a, const From *__restrict__ from, To *__restrict__ to)
{
    for (int64_t block = blockIdx.x; block < a.images * a.blocks; block += gridDim.x) {
        const int64_t image = block / a.blocks;
        const int64_t i = block % a.blocks * THREADS + threadIdx.x;
        if (i < a.rows * a.columns)
            convert(to + image * a.to_stride + i, from[image * a.from_stride + i]);
    }
}

/* A block turns a tile over, through shared memory, so that both sides go by whole sectors. */
template <typename From, typename To>
static __global__ void __launch_bounds__(THREADS)
    transpose_images(const convert_args a, const From *__restrict__ from, To *__restrict__ to)
{
    __shared__ From tile[TILE][TILE + 1];
    const int lane = static_cast<int>(threadIdx.x % TILE);
    const int first = static_cast<int>(threadIdx.x / TILE);
    for (int64_t block = blockIdx.x; block < a.images * a.blocks; block += gridDim.x) {
        const int64_t image = block / a.blocks, within = block % a.blocks;
        const int64_t row = within % a.row_tiles * TILE, column = within / a.row_tiles * TILE;
        const From *source = from + image * a.from_stride;
        To *target = to + image * a.to_stride;
        for (int i = first; i < TILE; i += TILE_ROWS)
            if (row + i < a.rows && column + lane < a.columns)
                tile[i][lane] = source[(row + i) * a.columns + column + lane];
        __syncthreads();
        for (int i = first; i < TILE; i += TILE_ROWS)
            if (column + i < a.columns && row + lane < a.rows)
                convert(target + (column + i) * a.rows + row + lane, tile[lane][i]);
        __syncthreads();
    }
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a - 1) / b + 1;
}

template <typename From, typename To>
static csrconv_status launch(bool is_transposed, convert_args a, const From *from, To *to,
                             void *stream)
{
    a.row_tiles = ceil_div(a.rows, TILE);
    a.blocks = is_transposed ? a.row_tiles * ceil_div(a.columns, TILE)
                             : ceil_div(a.rows * a.columns, THREADS);
    const unsigned grid = csrconv_cuda_grid(a.images * a.blocks);
    if (is_transposed)
        transpose_images<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a, from, to);
    else
        copy_images<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(a, from, to);
    return csrconv_cuda_launched("the conversion of a layout");
}

csrconv_status csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                      const struct csrconv_cuda_images *images, const float *from,
                                      void *to, void *stream)
{
    const convert_args a = {
        .images = images->count,
        .rows = images->channels,
        .columns = images->plane,
        .from_stride = images->stride,
        .to_stride = images->channels * images->plane,
    };
    if (format->is_half)
        return launch(format->is_nhwc, a, from, static_cast<__half *>(to), stream);
    return launch(format->is_nhwc, a, from, static_cast<float *>(to), stream);
}

csrconv_status csrconv_cuda_from_format(const struct csrconv_cuda_format *format,
                                        const struct csrconv_cuda_images *images, const void *from,
                                        float *to, void *stream)
{
    const convert_args a = {
        .images = images->count,
        .rows = format->is_nhwc ? images->plane : images->channels,
        .columns = format->is_nhwc ? images->channels : images->plane,
        .from_stride = images->channels * images->plane,
        .to_stride = images->stride,
    };
    if (format->is_half)
        return launch(format->is_nhwc, a, static_cast<const __half *>(from), to, stream);
    return launch(format->is_nhwc, a, static_cast<const float *>(from), to, stream);
}
