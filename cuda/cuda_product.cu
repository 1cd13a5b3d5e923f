#include "cuda_product.h"

#include "epilogue.cuh"

enum { THREADS = 128, FILTERS = 8, SIDE = 32, SIDE_ROWS = 8 };

struct store_args {
    const float *product;
    float *out;
    csrconv::epilogue epilogue;
    int64_t row, pixel; /* floats between filters and between pixels of the product */
    int64_t filters, pixels, out_plane, out_stride;
    int64_t tiles, slices; /* of pixels, of filters */
};

/* The place in out of a pixel, counted through the images, in the plane of filter 0. */
static __device__ __forceinline__ int64_t place_of(const store_args &a, int64_t pixel)
{
    const int64_t image = a.pixels < INT32_MAX
                              ? static_cast<int32_t>(pixel) / static_cast<int32_t>(a.out_plane)
                              : pixel / a.out_plane;
    return image * a.out_stride + pixel - image * a.out_plane;
}

/* Pixels are together in the product: lanes are pixels, and a thread takes some filters. */
static __global__ void __launch_bounds__(THREADS) store_rows(const store_args a)
{
    for (int64_t block = blockIdx.x; block < a.tiles * a.slices; block += gridDim.x) {
        const int64_t slice = block / a.tiles;
        const int64_t pixel = (block - slice * a.tiles) * THREADS + threadIdx.x;
        const int64_t end = min((slice + 1) * FILTERS, a.filters);
        if (pixel >= a.pixels)
            continue;
        const int64_t place = place_of(a, pixel);
#pragma unroll 4
        for (int64_t filter = slice * FILTERS; filter < end; filter++) {
            const int64_t at = place + filter * a.out_plane;
            const float sum = __ldg(a.product + filter * a.row + pixel);
            a.out[at] = csrconv::finish(a.epilogue, sum, filter, at);
        }
    }
}

/* Filters are together: squares of the product are turned in shared memory. */
static __global__ void __launch_bounds__(SIDE *SIDE_ROWS) store_turned(const store_args a)
{
    __shared__ float turn[SIDE][SIDE + 1];
    for (int64_t block = blockIdx.x; block < a.tiles * a.slices; block += gridDim.x) {
        const int64_t tile = block / a.slices, first = tile * SIDE;
        const int64_t filters = (block - tile * a.slices) * SIDE;
        const int64_t pixel = first + threadIdx.x, place = place_of(a, min(pixel, a.pixels - 1));
#pragma unroll
        for (int i = threadIdx.y; i < SIDE; i += SIDE_ROWS)
            if (first + i < a.pixels && filters + threadIdx.x < a.filters)
                turn[i][threadIdx.x] =
                    __ldg(a.product + (first + i) * a.pixel + filters + threadIdx.x);
        __syncthreads();
#pragma unroll
        for (int i = threadIdx.y; i < SIDE; i += SIDE_ROWS) {
            const int64_t at = place + (filters + i) * a.out_plane;
            if (pixel < a.pixels && filters + i < a.filters)
                a.out[at] = csrconv::finish(a.epilogue, turn[threadIdx.x][i], filters + i, at);
        }
        __syncthreads();
    }
}

csrconv_status csrconv_cuda_store_product(const struct csrconv_run *run,
                                          const struct csrconv_lowering *lowering,
                                          const float *device_bias, const float *product)
{
    const struct csrconv_shape *shape = run->shape;
    const cudaStream_t queue = static_cast<cudaStream_t>(run->stream);
    const bool by_row = lowering->product.pixel == 1;
    const int64_t tile = by_row ? THREADS : SIDE, slice = by_row ? FILTERS : SIDE;
    const store_args a = {
        .product = product,
        .out = run->out,
        .epilogue = csrconv::epilogue_of(run, device_bias),
        .row = lowering->product.row,
        .pixel = lowering->product.pixel,
        .filters = shape->g.filters,
        .pixels = run->n * shape->out_plane,
        .out_plane = shape->out_plane,
        .out_stride = shape->g.out_batch_stride,
        .tiles = (run->n * shape->out_plane - 1) / tile + 1,
        .slices = (shape->g.filters - 1) / slice + 1,
    };
    const unsigned grid = csrconv_cuda_grid(a.tiles * a.slices);
    if (by_row)
        store_rows<<<grid, THREADS, 0, queue>>>(a);
    else
        store_turned<<<grid, dim3(SIDE, SIDE_ROWS), 0, queue>>>(a);
    return csrconv_cuda_launched("the store of the products");
}

/* For kernels that step through whatever they are given. */
enum { STEPPING_BLOCKS = 4096 };

static __global__ void __launch_bounds__(THREADS)
    clear(float *first, int64_t rows, int64_t floats, int64_t stride)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; i < rows * floats;
         i += step)
        first[i / floats * stride + i % floats] = 0.0F;
}

csrconv_status csrconv_cuda_clear(float *first, int64_t rows, int64_t floats, int64_t stride,
                                  void *stream)
{
    clear<<<STEPPING_BLOCKS, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(first, rows, floats,
                                                                              stride);
    return csrconv_cuda_launched("the clearing of a product");
}

static __global__ void __launch_bounds__(THREADS) fill(float *floats, int64_t count)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; i < count;
         i += step) {
        uint32_t x = static_cast<uint32_t>(i) * 2654435769U;
        x = (x ^ x >> 15) * 2246822519U;
        floats[i] = static_cast<float>(static_cast<int32_t>(x ^ x >> 13)) * 0x1p-31F;
    }
}

csrconv_status csrconv_cuda_fill(float *floats, int64_t count, void *stream)
{
    fill<<<STEPPING_BLOCKS, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(floats, count);
    return csrconv_cuda_launched("the filling of a tensor");
}
