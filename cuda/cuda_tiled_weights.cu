/*
 * Direct sparse convolution with both operands in shared memory: a block computes a group of
 * filters over a tile of output pixels. For a few channels at a time it brings the inputs under the
 * tile, straight from the caller's planes with the borders filled in, and the nonzeros of its
 * filters; then each thread walks the nonzeros of its filters over its pixels. weight_tiles.h says
 * how a problem is cut.
 */
#include "epilogue.cuh"
#include "runtime.h"
#include "weight_slices.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    THREADS = CSRCONV_WEIGHT_TILE_THREADS,
    SUMS = CSRCONV_WEIGHT_TILE_SUMS,
    RESIDENT = 3 /* blocks of a multiprocessor that registers are left for */
};

/* The state: the cut, and the slices and the bias on the device. */
struct tiled_weights {
    csrconv_weight_tiles tiles;
    int64_t *starts;
    csrconv_weight_pair *pairs;
    float *bias;
};

struct weights_args {
    const int64_t *starts;
    const csrconv_weight_pair *pairs;
    const float *in;
    float *out;
    csrconv::epilogue epilogue;
    int64_t blocks, filter_blocks, group_blocks, tiles, column_tiles;
    int64_t group_channels, group_filters;
    int64_t height, width, in_stride, top, left;
    int64_t out_h, out_w, out_plane, out_stride;
    int64_t stride_h, stride_w;
    int lanes, thread_filters, filters;
    int tile_w, tile_pixels;
    int channels, stages, room; /* of a stage: channels, and room for pairs */
    int stage_w, stage_plane;   /* inputs of one channel under a tile */
    int position_threads;       /* threads in a row that stage one channel */
};

/* What a block computes. */
struct weights_place {
    int64_t image, filter_block, group, first_filter; /* first_filter counts in the group */
    int64_t y, x;                                     /* the tile's first output */
};

static __device__ weights_place place_of(const weights_args &a, int64_t block)
{
    const int64_t filter_block = block % a.filter_blocks;
    const int64_t tile = block / a.filter_blocks % a.tiles;
    return {
        .image = block / a.filter_blocks / a.tiles,
        .filter_block = filter_block,
        .group = filter_block / a.group_blocks,
        .first_filter = filter_block % a.group_blocks * a.filters,
        .y = tile / a.column_tiles * (a.tile_pixels / a.tile_w),
        .x = tile % a.column_tiles * a.tile_w,
    };
}

/* Shared memory of a block, in the order of csrconv_weight_tiles_shared_bytes. */
struct weights_stage {
    csrconv_weight_pair *pairs;
    int *starts; /* of each filter's pairs */
    float *inputs;
};

static __device__ weights_stage stage_of(const weights_args &a, csrconv_weight_pair *shared)
{
    int *starts = reinterpret_cast<int *>(shared + a.room);
    return { shared, starts, reinterpret_cast<float *>(starts + a.filters + 1) };
}

static __device__ void bring_weights(const weights_args &a, int64_t slice, const weights_stage &s)
{
    const int64_t *starts = a.starts + slice * a.filters;
    const int64_t begin = __ldg(starts);
    const int count = static_cast<int>(__ldg(starts + a.filters) - begin);
    for (int f = threadIdx.x; f <= a.filters; f += THREADS)
        s.starts[f] = static_cast<int>(__ldg(starts + f) - begin);
    for (int i = threadIdx.x; i < count; i += THREADS)
        s.pairs[i] = a.pairs[begin + i];
}

/*
 * The inputs of the stage's channels. A thread keeps its place in the plane from channel to
 * channel, so that it finds out only once where that is, and whether it is in a border.
 */
static __device__ void bring_inputs(const weights_args &a, const weights_place &place,
                                    int stage_index, const weights_stage &s)
{
    const int64_t first = static_cast<int64_t>(stage_index) * a.channels;
    const int64_t left = a.group_channels - first;
    const int channels = left < a.channels ? static_cast<int>(left) : a.channels;
    const int64_t plane = a.height * a.width;
    const float *planes =
        a.in + place.image * a.in_stride + (place.group * a.group_channels + first) * plane;
    const int step = THREADS / a.position_threads;
    for (int i = threadIdx.x % a.position_threads; i < a.stage_plane; i += a.position_threads) {
        const int64_t y = place.y * a.stride_h - a.top + i / a.stage_w;
        const int64_t x = place.x * a.stride_w - a.left + i % a.stage_w;
        const bool is_inside = y >= 0 && y < a.height && x >= 0 && x < a.width;
        const float *from = planes + (is_inside ? y * a.width + x : 0);
#pragma unroll 4
        for (int c = threadIdx.x / a.position_threads; c < channels; c += step)
            s.inputs[c * a.stage_plane + i] = is_inside ? __ldg(from + c * plane) : 0.0F;
    }
}

/* Adds up the stage's nonzeros; window[p] is where pixel p's window begins in the inputs. */
template <int PIXELS>
static __device__ __forceinline__ void multiply(const weights_args &a, const weights_stage &s,
                                                int slot, const int (&window)[PIXELS],
                                                float (&sums)[SUMS][PIXELS])
{
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        if (k >= a.thread_filters)
            break;
        const int filter = slot * a.thread_filters + k;
        const int end = s.starts[filter + 1];
        for (int i = s.starts[filter]; i < end; i++) {
            const csrconv_weight_pair pair = s.pairs[i];
#pragma unroll
            for (int p = 0; p < PIXELS; p++)
                sums[k][p] = fmaf(pair.value, s.inputs[window[p] + pair.offset], sums[k][p]);
        }
    }
}

template <int PIXELS>
static __device__ __forceinline__ void store(const weights_args &a, const weights_place &place,
                                             int slot, int lane, const float (&sums)[SUMS][PIXELS])
{
#pragma unroll
    for (int p = 0; p < PIXELS; p++) {
        const int pixel = p * a.lanes + lane;
        const int64_t y = place.y + pixel / a.tile_w, x = place.x + pixel % a.tile_w;
        if (pixel >= a.tile_pixels || y >= a.out_h || x >= a.out_w)
            continue;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            const int64_t filter = place.first_filter + slot * a.thread_filters + k;
            const int64_t m = place.group * a.group_filters + filter;
            const int64_t at = place.image * a.out_stride + m * a.out_plane + y * a.out_w + x;
            if (k < a.thread_filters && filter < a.group_filters)
                a.out[at] = csrconv::finish(a.epilogue, sums[k][p], m, at);
        }
    }
}

template <int PIXELS>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    convolve_tiled_weights(const weights_args a)
{
    extern __shared__ csrconv_weight_pair shared[];
    const weights_stage s = stage_of(a, shared);
    const int lane = threadIdx.x % a.lanes, slot = threadIdx.x / a.lanes;
    int window[PIXELS]; /* pixels behind the tile's last one compute the first one's sum */
    for (int p = 0; p < PIXELS; p++) {
        const int pixel = p * a.lanes + lane < a.tile_pixels ? p * a.lanes + lane : 0;
        window[p] = static_cast<int>(pixel / a.tile_w * a.stride_h * a.stage_w +
                                     pixel % a.tile_w * a.stride_w);
    }
    for (int64_t block = blockIdx.x; block < a.blocks; block += gridDim.x) {
        const weights_place place = place_of(a, block);
        float sums[SUMS][PIXELS] = {};
        for (int i = 0; i < a.stages; i++) {
            bring_weights(a, place.filter_block * a.stages + i, s);
            bring_inputs(a, place, i, s);
            __syncthreads();
            multiply<PIXELS>(a, s, slot, window, sums);
            __syncthreads();
        }
        store<PIXELS>(a, place, slot, lane, sums);
    }
}

typedef void (*weights_kernel)(weights_args a);

static weights_kernel kernel_of(const csrconv_weight_tiles *tiles)
{
    return tiles->thread_pixels == 1   ? convolve_tiled_weights<1>
           : tiles->thread_pixels == 2 ? convolve_tiled_weights<2>
                                       : convolve_tiled_weights<CSRCONV_WEIGHT_TILE_PIXELS>;
}

static_assert(sizeof(csrconv_weight_tiles) <= CSRCONV_MAPPING_BYTES);

static csrconv_status tiled_weights_estimate(const struct csrconv_algorithm *,
                                             const struct csrconv_problem *problem,
                                             struct csrconv_estimate *estimate)
{
    const double least_us = 8.0, share = 0.3; /* of what the model counts, as an H200 does it */
    csrconv_cuda_device device;
    csrconv_weight_tiles tiles;
    csrconv_status status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    const csrconv_weight_tile_limits limits = { device.block_shared, device.processors };
    status = csrconv_weight_tiles_choose(problem, &limits, &tiles);
    if (status)
        return status;
    estimate->us = least_us + tiles.clocks / (share * device.clock_ghz * 1e3);
    memcpy(estimate->mapping, &tiles, sizeof tiles);
    return CSRCONV_OK;
}

static void tiled_weights_destroy(const struct csrconv_memory *memory, void *state)
{
    tiled_weights *t = static_cast<tiled_weights *>(state);
    if (!t)
        return;
    csrconv_cuda_free(t->starts);
    csrconv_cuda_free(t->pairs);
    csrconv_cuda_free(t->bias);
    csrconv_release(memory, t);
}

static csrconv_status upload_slices(const struct csrconv_problem *problem,
                                    struct csrconv_memory *memory, tiled_weights *t)
{
    struct csrconv_memory scratch = *memory; /* not the plan's: gone when the copy is done */
    csrconv_weight_slices slices;
    csrconv_status status = csrconv_weight_slices_make(problem, &scratch, &t->tiles, &slices);
    if (!status)
        status = csrconv_cuda_upload(memory, slices.starts, csrconv_weight_slices_starts(&t->tiles),
                                     sizeof *slices.starts, reinterpret_cast<void **>(&t->starts));
    if (!status)
        status = csrconv_cuda_upload(memory, slices.pairs, csrconv_nonzeros(problem->weights),
                                     sizeof *slices.pairs, reinterpret_cast<void **>(&t->pairs));
    csrconv_weight_slices_free(&scratch, &slices);
    return status;
}

/*
 * Kernels opt in to more shared memory for the whole process: to all that there is, so that no plan
 * takes away what another one needs.
 */
static csrconv_status allow_shared(const csrconv_weight_tiles *tiles)
{
    csrconv_cuda_device device;
    csrconv_status status;
    if (csrconv_weight_tiles_shared_bytes(tiles) <= CSRCONV_PLAIN_SHARED)
        return CSRCONV_OK;
    status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    return csrconv_cuda_check(cudaFuncSetAttribute(kernel_of(tiles),
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(device.block_shared)),
                              "shared memory for cuda_tiled_weights");
}

static void describe(const csrconv_weight_tiles *t, struct csrconv_prepared *prepared)
{
    snprintf(prepared->detail, sizeof prepared->detail,
             "blocks of %d filters x %d x %d pixels, %d x %d a thread; %" PRId64
             " channels a stage, %" PRId64 " bytes of shared memory, %" PRId64
             " blocks an image; borders filled in while staging",
             t->filters, t->tile_h, t->tile_w, t->thread_filters, t->thread_pixels, t->channels,
             csrconv_weight_tiles_shared_bytes(t), csrconv_weight_tiles_blocks(t, 1));
}

static csrconv_status tiled_weights_prepare(const struct csrconv_algorithm *,
                                            const struct csrconv_problem *problem,
                                            struct csrconv_prepared *prepared)
{
    struct csrconv_memory *memory = &prepared->memory;
    csrconv_status status = csrconv_allocate(memory, 1, sizeof(tiled_weights), &prepared->state);
    if (status)
        return status;
    tiled_weights *t = static_cast<tiled_weights *>(prepared->state);
    *t = tiled_weights{};
    memcpy(&t->tiles, prepared->estimate->mapping, sizeof t->tiles);
    if ((status = upload_slices(problem, memory, t)) ||
        (status = csrconv_cuda_upload_bias(problem, memory, &t->bias)) ||
        (status = allow_shared(&t->tiles)) ||
        (status = csrconv_cuda_load(reinterpret_cast<const void *>(kernel_of(&t->tiles)),
                                    "cuda_tiled_weights")))
        return status;
    describe(&t->tiles, prepared);
    return CSRCONV_OK;
}

/* The lanes, a power of two, that the inputs of one channel keep busy. */
static int position_threads(int64_t plane)
{
    int threads = 1;
    while (threads < THREADS && threads < plane)
        threads *= 2;
    return threads;
}

static weights_args args_of(const tiled_weights *w, const struct csrconv_run *run)
{
    const struct csrconv_shape *shape = run->shape;
    const csrconv_geometry *g = &shape->g;
    const csrconv_weight_tiles *t = &w->tiles;
    return {
        .starts = w->starts,
        .pairs = w->pairs,
        .in = run->in,
        .out = run->out,
        .epilogue = csrconv::epilogue_of(run, w->bias),
        .blocks = csrconv_weight_tiles_blocks(t, run->n),
        .filter_blocks = t->filter_blocks,
        .group_blocks = t->filter_blocks / g->groups,
        .tiles = t->row_tiles * t->column_tiles,
        .column_tiles = t->column_tiles,
        .group_channels = shape->group_channels,
        .group_filters = shape->group_filters,
        .height = g->height,
        .width = g->width,
        .in_stride = g->in_batch_stride,
        .top = g->pad_top,
        .left = g->pad_left,
        .out_h = shape->out_h,
        .out_w = shape->out_w,
        .out_plane = shape->out_plane,
        .out_stride = g->out_batch_stride,
        .stride_h = g->stride_h,
        .stride_w = g->stride_w,
        .lanes = t->lanes,
        .thread_filters = t->thread_filters,
        .filters = t->filters,
        .tile_w = t->tile_w,
        .tile_pixels = t->tile_h * t->tile_w,
        .channels = static_cast<int>(t->channels),
        .stages = static_cast<int>(t->stages),
        .room = static_cast<int>(t->pairs),
        .stage_w = static_cast<int>(t->stage_w),
        .stage_plane = static_cast<int>(t->stage_h * t->stage_w),
        .position_threads = position_threads(t->stage_h * t->stage_w),
    };
}

static csrconv_status tiled_weights_execute(const void *state, const struct csrconv_run *run)
{
    const tiled_weights *w = static_cast<const tiled_weights *>(state);
    const size_t bytes = static_cast<size_t>(csrconv_weight_tiles_shared_bytes(&w->tiles));
    const weights_args a = args_of(w, run);
    kernel_of(&w->tiles)<<<csrconv_cuda_grid(a.blocks), THREADS, bytes,
                           static_cast<cudaStream_t>(run->stream)>>>(a);
    return csrconv_cuda_launched("cuda_tiled_weights");
}

extern "C" const struct csrconv_algorithm csrconv_algorithm_cuda_tiled_weights = {
    .info = { .name = "cuda_tiled_weights",
              .summary = "weights of a filter group and inputs of a pixel tile in shared memory",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = tiled_weights_estimate,
    .prepare = tiled_weights_prepare,
    .execute = tiled_weights_execute,
    .destroy = tiled_weights_destroy,
};
