#include "cuda_layout.h"

#include <cuda_fp16.h>

enum { THREADS = 256, TILE = 32, TILE_ROWS = THREADS / TILE };

struct convert_args {
    struct csrconv_layout_move move;
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
    const csrconv_layout_move &m = a.move;
    for (int64_t block = blockIdx.x; block < m.images * a.blocks; block += gridDim.x) {
        const int64_t image = block / a.blocks;
        const int64_t i = block % a.blocks * THREADS + threadIdx.x;
        if (i < m.rows * m.columns)
            convert(to + image * m.to_stride + i, from[image * m.from_stride + i]);
    }
}

/*
 * A block turns a tile over, through shared memory, so that both sides go by whole sectors. Tiles
 * cover the target's rows to their end, zeros and all.
 */
template <typename From, typename To>
static __global__ void __launch_bounds__(THREADS)
    transpose_images(const convert_args a, const From *__restrict__ from, To *__restrict__ to)
{
    __shared__ From tile[TILE][TILE + 1];
    const int lane = static_cast<int>(threadIdx.x % TILE);
    const int first = static_cast<int>(threadIdx.x / TILE);
    const csrconv_layout_move &m = a.move;
    for (int64_t block = blockIdx.x; block < m.images * a.blocks; block += gridDim.x) {
        const int64_t image = block / a.blocks, within = block % a.blocks;
        const int64_t row = within % a.row_tiles * TILE, column = within / a.row_tiles * TILE;
        const From *source = from + image * m.from_stride;
        To *target = to + image * m.to_stride;
        for (int i = first; i < TILE; i += TILE_ROWS)
            if (column + lane < m.columns)
                tile[i][lane] = row + i < m.rows ? source[(row + i) * m.from_pitch + column + lane]
                                                 : From(0.0F);
        __syncthreads();
        for (int i = first; i < TILE; i += TILE_ROWS)
            if (column + i < m.columns && row + lane < m.to_pitch)
                convert(target + (column + i) * m.to_pitch + row + lane, tile[lane][i]);
        __syncthreads();
    }
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a - 1) / b + 1;
}

template <typename From, typename To>
static csrconv_status launch(const csrconv_layout_move &move, const From *from, To *to,
                             void *stream)
{
    const cudaStream_t on = static_cast<cudaStream_t>(stream);
    convert_args a = { .move = move, .row_tiles = ceil_div(move.to_pitch, TILE) };
    a.blocks = move.is_transposed ? a.row_tiles * ceil_div(move.columns, TILE)
                                  : ceil_div(move.rows * move.columns, THREADS);
    const unsigned grid = csrconv_cuda_grid(move.images * a.blocks);
    if (move.is_transposed)
        transpose_images<<<grid, THREADS, 0, on>>>(a, from, to);
    else
        copy_images<<<grid, THREADS, 0, on>>>(a, from, to);
    return csrconv_cuda_launched("the conversion of a layout");
}

csrconv_status csrconv_cuda_to_format(const struct csrconv_cuda_format *format,
                                      const struct csrconv_cuda_images *images, const float *from,
                                      void *to, void *stream)
{
    const csrconv_layout_move move = csrconv_layout_inwards(format, images);
    if (format->is_half)
        return launch(move, from, static_cast<__half *>(to), stream);
    return launch(move, from, static_cast<float *>(to), stream);
}

csrconv_status csrconv_cuda_from_format(const struct csrconv_cuda_format *format,
                                        const struct csrconv_cuda_images *images, const void *from,
                                        float *to, void *stream)
{
    const csrconv_layout_move move = csrconv_layout_outwards(format, images);
    if (format->is_half)
        return launch(move, static_cast<const __half *>(from), to, stream);
    return launch(move, static_cast<const float *>(from), to, stream);
}
