/*
 * The paper's kernel: input tiles in shared memory that serve many filters, sums of several filters
 * and outputs in each lane, weights streamed once for all outputs of a warp. tiled_kernel.cuh has
 * the kernel; block_tiling.c chooses how a convolution is cut, row_streams.c lays out the weights.
 */
#include "cuda_tiled.h"
#include "runtime.h"
#include "tiled_kernel.cuh"

#include <inttypes.h>
#include <stdio.h>

typedef void (*tiled_kernel)(tiled_args);

/* In the order of csrconv_block_kernels. */
template <bool STAGED> static tiled_kernel kernel_at(int index)
{
#define ENTRY(filters, pixels, threads, registers) convolve_tiled<filters, pixels, STAGED, threads>,
    static const tiled_kernel kernels[] = { CSRCONV_EACH_BLOCK_KERNEL(ENTRY) };
#undef ENTRY
    return kernels[index];
}

struct tiled {
    tiled_kernel kernel;
    csrconv_block_tiling tiling;
    tiled_args args; /* but for what differs from an execute to the next */
    /* On the device. */
    csrconv_quad *quads;
    int64_t *start, *filter;
    int32_t *places, *row_phases, *column_phases;
    float *bias;
};

csrconv_status csrconv_tiled_machine(struct csrconv_block_machine *machine)
{
    csrconv_cuda_device device;
    const csrconv_status status = csrconv_cuda_describe(&device);
    if (!status)
        *machine = csrconv_block_machine{ device.processors, device.block_shared,
                                          device.processor_shared, device.clock_ghz };
    return status;
}

static_assert(sizeof(csrconv_block_tiling) <= CSRCONV_MAPPING_BYTES);

static csrconv_status tiled_estimate(const struct csrconv_algorithm *,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_estimate *estimate)
{
    csrconv_block_machine machine;
    csrconv_block_tiling tiling;
    csrconv_status status = csrconv_tiled_machine(&machine);
    if (status || (status = csrconv_block_tiling_choose(problem, &machine, &tiling)))
        return status;
    estimate->us = tiling.us;
    memcpy(estimate->mapping, &tiling, sizeof tiling);
    return CSRCONV_OK;
}

static void tiled_destroy(const struct csrconv_memory *memory, void *state)
{
    tiled *t = static_cast<tiled *>(state);
    if (!t)
        return;
    csrconv_cuda_free(t->quads);
    csrconv_cuda_free(t->start);
    csrconv_cuda_free(t->filter);
    csrconv_cuda_free(t->places);
    csrconv_cuda_free(t->row_phases);
    csrconv_cuda_free(t->column_phases);
    csrconv_cuda_free(t->bias);
    csrconv_release(memory, t);
}

template <typename T>
static csrconv_status upload(struct csrconv_memory *memory, const T *from, int64_t count, T **out)
{
    return csrconv_cuda_upload(memory, from, count, sizeof *from, reinterpret_cast<void **>(out));
}

static csrconv_status upload_streams(const struct csrconv_problem *problem,
                                     struct csrconv_memory *memory, tiled *t)
{
    const int64_t filters = csrconv_block_kernels[t->tiling.kernel].filters;
    csrconv_memory scratch = *memory; /* not the plan's: gone when the copies are done */
    csrconv_row_streams s;
    csrconv_status status = csrconv_row_streams_make(problem, &t->tiling, &scratch, &s);
    if (!status)
        status = upload(memory, s.quads, s.start[s.warps] + CSRCONV_QUADS_AHEAD, &t->quads);
    if (!status)
        status = upload(memory, s.start, s.warps + 1, &t->start);
    if (!status)
        status = upload(memory, s.filter, s.warps * filters, &t->filter);
    csrconv_row_streams_free(&scratch, &s);
    return status;
}

static csrconv_status upload_places(struct csrconv_memory *memory, tiled *t)
{
    const int64_t words = csrconv_block_words(&t->tiling);
    csrconv_memory scratch = *memory;
    void *places;
    csrconv_status status = csrconv_allocate(&scratch, words, sizeof(int32_t), &places);
    if (status)
        return status;
    csrconv_patch_places(&t->tiling.patch, words, static_cast<int32_t *>(places));
    status = upload(memory, static_cast<int32_t *>(places), words, &t->places);
    csrconv_release(&scratch, places);
    return status;
}

/* Of both axes, if one of them has a stride. */
static csrconv_status upload_phases(const struct csrconv_shape *shape,
                                    struct csrconv_memory *memory, tiled *t)
{
    const int64_t rows = shape->g.stride_h, columns = shape->g.stride_w;
    csrconv_memory scratch = *memory;
    void *phases;
    if (rows == 1 && columns == 1)
        return CSRCONV_OK;
    csrconv_status status = csrconv_allocate(&scratch, rows + columns, sizeof(int32_t), &phases);
    if (status)
        return status;
    int32_t *of_rows = static_cast<int32_t *>(phases), *of_columns = of_rows + rows;
    csrconv_patch_row_phases(shape, &t->tiling.patch, of_rows);
    csrconv_patch_column_phases(shape, &t->tiling.patch, of_columns);
    status = upload(memory, of_rows, rows, &t->row_phases);
    if (!status)
        status = upload(memory, of_columns, columns, &t->column_phases);
    csrconv_release(&scratch, phases);
    return status;
}

static tiled_args args_of(const struct csrconv_problem *problem, const tiled *t)
{
    const struct csrconv_shape *shape = &problem->shape;
    const csrconv_geometry *g = &shape->g;
    const csrconv_block_tiling *tiling = &t->tiling;
    return tiled_args{
        .quads = reinterpret_cast<const int4 *>(t->quads),
        .start = t->start,
        .filter = t->filter,
        .places = t->places,
        .row_phases = t->row_phases,
        .column_phases = t->column_phases,
        .in = nullptr,
        .out = nullptr,
        .epilogue = {},
        .patch = tiling->patch,
        .n = 0,
        .in_stride = g->in_batch_stride,
        .out_stride = g->out_batch_stride,
        .height = g->height,
        .width = g->width,
        .plane = shape->plane,
        .pad_top = g->pad_top,
        .pad_left = g->pad_left,
        .group_channels = shape->group_channels,
        .stride_h = g->stride_h,
        .stride_w = g->stride_w,
        .out_h = shape->out_h,
        .out_w = shape->out_w,
        .out_plane = shape->out_plane,
        .first_image_tile = 0,
        .filter_tiles = static_cast<unsigned>(g->groups * tiling->filter_tiles),
        .group_filter_tiles = static_cast<unsigned>(tiling->filter_tiles),
        .row_tiles = static_cast<unsigned>(tiling->row_tiles),
        .column_tiles = static_cast<unsigned>(tiling->column_tiles),
        .filter_ways = static_cast<int>(tiling->filter_ways),
        .consumers = static_cast<int>(tiling->filter_ways * tiling->pixel_ways),
        .producers = static_cast<int>(tiling->producers * WARP),
        .ring = static_cast<int>(tiling->ring),
        .stages = static_cast<int>(tiling->stages),
        .stage_channels = static_cast<int>(tiling->stage_channels),
        .stage_floats = static_cast<int>(tiling->stage_floats),
        .vector = 1,
        .is_streaming = !problem->without.eviction,
    };
}

static void explain(const tiled *t, struct csrconv_prepared *prepared)
{
    const csrconv_block_tiling *c = &t->tiling;
    const csrconv_block_kernel *k = &csrconv_block_kernels[c->kernel];
    const csrconv_patch *p = &c->patch;
    snprintf(prepared->detail, sizeof prepared->detail,
             "%d filters x %d pixels a lane, %" PRId64 " x %" PRId64
             " warps (filters x pixels) and %" PRId64 " that stage; tiles of %" PRId64
             " images x %" PRId64 " x %" PRId64 " outputs in %" PRId64 " words; %" PRId64
             " stages of %" PRId64 " channels, %" PRId64
             " held, borders made while staging %" PRId64 " floats at a time; %" PRId64
             " blocks, %" PRId64 " bytes shared, %" PRId64 " blocks a multiprocessor",
             k->filters, k->pixels, c->filter_ways, c->pixel_ways, c->producers, p->images, p->rows,
             p->columns, csrconv_block_words(c), c->stages, c->stage_channels, c->ring, p->vector,
             c->blocks, c->shared_bytes, c->residents);
}

/* All that the device has: the limit is the kernel's, whatever plan it runs for. */
static csrconv_status allow_shared(tiled_kernel kernel)
{
    csrconv_cuda_device device;
    const csrconv_status status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    return csrconv_cuda_check(cudaFuncSetAttribute(kernel,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(device.block_shared)),
                              "cuda_tiled: shared memory");
}

csrconv_status csrconv_tiled_prepare_as(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_prepared *prepared)
{
    struct csrconv_memory *memory = &prepared->memory;
    csrconv_status status = csrconv_allocate(memory, 1, sizeof(tiled), &prepared->state);
    if (status)
        return status;
    tiled *t = static_cast<tiled *>(prepared->state);
    *t = tiled{};
    t->tiling = *tiling;
    if ((status = upload_streams(problem, memory, t)) || (status = upload_places(memory, t)) ||
        (status = upload_phases(&problem->shape, memory, t)) ||
        (status = csrconv_cuda_upload_bias(problem, memory, &t->bias)))
        return status;
    t->kernel = problem->without.staged_offsets ? kernel_at<false>(tiling->kernel)
                                                : kernel_at<true>(tiling->kernel);
    t->args = args_of(problem, t);
    explain(t, prepared);
    return allow_shared(t->kernel);
}

static csrconv_status tiled_prepare(const struct csrconv_algorithm *,
                                    const struct csrconv_problem *problem,
                                    struct csrconv_prepared *prepared)
{
    csrconv_block_tiling tiling;
    memcpy(&tiling, prepared->estimate->mapping, sizeof tiling);
    return csrconv_tiled_prepare_as(problem, &tiling, prepared);
}

/* Wide copies need what the plan has seen to, and a pointer that is aligned for them. */
static int vector_for(const tiled *t, const float *in)
{
    const int64_t vector = t->tiling.patch.vector;
    const uintptr_t bytes = static_cast<uintptr_t>(vector) * sizeof(float);
    return reinterpret_cast<uintptr_t>(in) % bytes ? 1 : static_cast<int>(vector);
}

static csrconv_status tiled_execute(const void *state, const struct csrconv_run *run)
{
    const tiled *t = static_cast<const tiled *>(state);
    const csrconv_block_tiling *c = &t->tiling;
    const int64_t image_tiles = (run->n - 1) / c->patch.images + 1;
    const int64_t tile_blocks = c->blocks / c->image_tiles, most = INT32_MAX / tile_blocks;
    const unsigned threads = static_cast<unsigned>(t->args.consumers * WARP + t->args.producers);
    tiled_args a = t->args;
    a.in = run->in;
    a.out = run->out;
    a.epilogue = csrconv::epilogue_of(run, t->bias);
    a.n = run->n;
    a.vector = vector_for(t, run->in);
    for (; a.first_image_tile < image_tiles; a.first_image_tile += most) {
        const int64_t left = image_tiles - a.first_image_tile;
        const int64_t blocks = (left < most ? left : most) * tile_blocks;
        t->kernel<<<static_cast<unsigned>(blocks), threads, static_cast<size_t>(c->shared_bytes),
                    static_cast<cudaStream_t>(run->stream)>>>(a);
        const csrconv_status status = csrconv_cuda_launched("cuda_tiled");
        if (status)
            return status;
    }
    return CSRCONV_OK;
}

extern "C" const struct csrconv_algorithm csrconv_algorithm_cuda_tiled = {
    .info = { .name = "cuda_tiled",
              .summary = "stretched CSR over input tiles in shared memory, sums in registers",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = tiled_estimate,
    .prepare = tiled_prepare,
    .execute = tiled_execute,
    .destroy = tiled_destroy,
};
