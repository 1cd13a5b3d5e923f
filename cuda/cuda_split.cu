/*
 * Small batches: work is split over filters, tiles of outputs, images and chunks of input channels,
 * so that all multiprocessors are busy with one image. split_kernel.cuh has the kernels;
 * split_tiling.c chooses how a convolution is cut, chunk_lists.c lays out the weights.
 */
#include "cuda_split.h"
#include "runtime.h"
#include "split_kernel.cuh"

extern "C" {
#include "chunk_lists.h"
#include "integers.h"
#include "tile_tables.h"
}

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef void (*split_kernel)(split_args);

enum { MOST_GRID_Y = 65535, MOST_TRIES = 6 };

static const double first_spare = 1.1, more_spare = 1.5; /* quads of a list over those expected */

template <split_adding WAY> static split_kernel kernel_of(int pixels)
{
#define ENTRY(p)                                                                                   \
    if (pixels == (p))                                                                             \
        return convolve_split<p, WAY>;
    CSRCONV_EACH_SPLIT_KERNEL(ENTRY)
#undef ENTRY
    return nullptr;
}

struct split {
    split_kernel kernel;
    csrconv_split_tiling tiling;
    split_args args; /* but for what differs from an execute to the next */
    /* On the device. */
    csrconv_quad *lists;
    int32_t *sources, *outputs;
    int64_t filter_tiles; /* of all groups */
    bool has_pass, starts_early;
};

static void ask_for_cluster(cudaLaunchConfig_t *config, cudaLaunchAttribute *attribute,
                            int64_t blocks)
{
    attribute->id = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim.x = static_cast<unsigned>(blocks);
    attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
    config->numAttrs++;
}

/* How many clusters run at once depends on how many multiprocessors each part of a GPU has. */
static csrconv_status count_clusters(const csrconv_cuda_device *device,
                                     csrconv_split_machine *machine)
{
    const split_kernel kernel = convolve_split<4, IN_CLUSTER>;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(device->block_shared));
    for (int blocks = 1; blocks <= CSRCONV_MOST_CHUNKS && !error; blocks++) {
        cudaLaunchAttribute attribute = {};
        cudaLaunchConfig_t config = {};
        int clusters = 0;
        config.gridDim = dim3(static_cast<unsigned>(blocks * device->processors));
        config.blockDim = dim3(CSRCONV_SPLIT_THREADS);
        config.dynamicSmemBytes = static_cast<size_t>(device->block_shared);
        config.attrs = &attribute;
        ask_for_cluster(&config, &attribute, blocks);
        error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
        machine->clusters[blocks] = clusters;
    }
    return csrconv_cuda_check(error, "cuda_split: clusters");
}

csrconv_status csrconv_split_describe(const struct csrconv_algorithm *self,
                                      struct csrconv_split_machine *machine)
{
    const csrconv_split_traits *traits = static_cast<const csrconv_split_traits *>(self->traits);
    csrconv_cuda_device device;
    const csrconv_status status = csrconv_cuda_describe(&device);
    if (status)
        return status;
    *machine = csrconv_split_machine{ { device.processors, device.block_shared,
                                        device.processor_shared, device.clock_ghz },
                                      CSRCONV_ADD_IN_PASS,
                                      {} };
    if (!traits->may_cluster || device.capability < 90)
        return CSRCONV_OK;
    machine->adder = CSRCONV_ADD_IN_CLUSTER;
    return count_clusters(&device, machine);
}

static csrconv_status choose_tiling(const struct csrconv_algorithm *self,
                                    const struct csrconv_problem *problem, double spare,
                                    csrconv_split_tiling *tiling)
{
    csrconv_split_machine machine;
    const csrconv_status status = csrconv_split_describe(self, &machine);
    return status ? status : csrconv_split_tiling_choose(problem, &machine, spare, tiling);
}

static_assert(sizeof(csrconv_split_tiling) <= CSRCONV_MAPPING_BYTES);

csrconv_status csrconv_split_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate)
{
    csrconv_split_tiling tiling;
    const csrconv_status status = choose_tiling(self, problem, first_spare, &tiling);
    if (status)
        return status;
    estimate->us = tiling.block.us;
    memcpy(estimate->mapping, &tiling, sizeof tiling);
    return CSRCONV_OK;
}

void csrconv_split_destroy(const struct csrconv_memory *memory, void *state)
{
    split *s = static_cast<split *>(state);
    if (!s)
        return;
    csrconv_cuda_free(s->lists);
    csrconv_cuda_free(s->sources);
    csrconv_cuda_free(s->outputs);
    csrconv_release(memory, s);
}

/* The lists must be as long as the tiling allows: what lies behind them was placed by that. */
static csrconv_status upload_lists(const struct csrconv_problem *problem,
                                   struct csrconv_memory *memory, split *s)
{
    csrconv_memory scratch = *memory; /* not the plan's: gone when the copy is done */
    csrconv_chunk_lists lists;
    csrconv_status status = csrconv_chunk_lists_make(problem, &s->tiling, &scratch, &lists);
    if (!status && lists.pitch > s->tiling.list_quads)
        status = csrconv_fail(CSRCONV_NOT_SUPPORTED,
                              "a block's list of %" PRId64 " bytes does not fit where %" PRId64
                              " were expected",
                              lists.pitch * static_cast<int64_t>(sizeof *lists.quads),
                              s->tiling.list_quads * static_cast<int64_t>(sizeof *lists.quads));
    if (!status) {
        s->tiling.list_quads = lists.pitch;
        status = csrconv_cuda_upload(memory, lists.quads, lists.count * lists.pitch,
                                     sizeof *lists.quads, reinterpret_cast<void **>(&s->lists));
    }
    csrconv_chunk_lists_free(&scratch, &lists);
    return status;
}

static csrconv_status upload_tables(const struct csrconv_problem *problem,
                                    struct csrconv_memory *memory, split *s)
{
    const csrconv_block_tiling *t = &s->tiling.block;
    csrconv_memory scratch = *memory;
    csrconv_tile_tables tables;
    csrconv_status status = csrconv_tile_tables_make(&problem->shape, &t->patch,
                                                     csrconv_block_words(t), &scratch, &tables);
    if (!status)
        status = csrconv_cuda_upload(memory, tables.source, tables.sources, sizeof *tables.source,
                                     reinterpret_cast<void **>(&s->sources));
    if (!status)
        status = csrconv_cuda_upload(memory, tables.output, tables.outputs, sizeof *tables.output,
                                     reinterpret_cast<void **>(&s->outputs));
    csrconv_tile_tables_free(&scratch, &tables);
    return status;
}

static int shift_of(int64_t power)
{
    int shift = 0;
    while (power >> shift > 1)
        shift++;
    return shift;
}

static split_args args_of(const struct csrconv_problem *problem, const split *s)
{
    const struct csrconv_shape *shape = &problem->shape;
    const csrconv_geometry *g = &shape->g;
    const csrconv_block_tiling *t = &s->tiling.block;
    const csrconv_list_words words = csrconv_find_list_words(&s->tiling);
    const int64_t threads = t->filter_ways * t->pixel_ways * WARP, channel = t->patch.channel;
    split_args a = {
        .lists = reinterpret_cast<const int4 *>(s->lists),
        .sources = s->sources,
        .outputs = s->outputs,
        .in = nullptr,
        .out = nullptr,
        .partial = nullptr,
        .epilogue = {},
        .n = 0,
        .in_stride = g->in_batch_stride,
        .out_stride = g->out_batch_stride,
        .plane = shape->plane,
        .out_plane = shape->out_plane,
        .group_channels = shape->group_channels,
        .first_image_tile = 0,
        .first_filter_tile = 0,
        .by_chunks = csrconv_divisor_of(t->stages),
        .by_places = csrconv_divisor_of(s->tiling.places),
        .by_tiles = csrconv_divisor_of(t->row_tiles * t->column_tiles),
        .by_group = csrconv_divisor_of(t->filter_tiles),
        .by_channel = csrconv_divisor_of(channel),
        .first_channel = {},
        .chunks = static_cast<int>(t->stages),
        .tiles = static_cast<int>(t->row_tiles * t->column_tiles),
        .tile_images = static_cast<int>(t->patch.images),
        .channel_words = static_cast<int>(channel),
        .sharing = channel < threads ? static_cast<int>(threads / channel) : 1,
        .list_quads = static_cast<int>(s->tiling.list_quads),
        .pixels = csrconv_block_kernels[t->kernel].pixels,
        .filter_ways = static_cast<int>(t->filter_ways),
        .places = static_cast<int>(s->tiling.places),
        .at_segment = static_cast<int>(words.segment),
        .at_filter = static_cast<int>(words.filter),
        .at_bias = static_cast<int>(words.bias),
        .words = static_cast<int>(csrconv_block_words(t)),
        .zeros = static_cast<int>(t->zeros),
        .unit_shift = shift_of(csrconv_split_place_units(&s->tiling)),
        .units = static_cast<int>(csrconv_split_units(&s->tiling)),
        .share = static_cast<int>(csrconv_split_share(&s->tiling)),
    };
    for (int i = 0; i <= t->stages; i++)
        a.first_channel[i] = static_cast<int>(s->tiling.first_channel[i]);
    return a;
}

static void explain(const split *s, struct csrconv_prepared *prepared)
{
    const csrconv_block_tiling *t = &s->tiling.block;
    const csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    const csrconv_patch *p = &t->patch;
    const char *adder = t->stages == 1 ? "nothing to add"
                        : s->has_pass  ? "added by a second kernel"
                                       : "added in clusters";
    snprintf(prepared->detail, sizeof prepared->detail,
             "%" PRId64 " filters in %" PRId64 " x %" PRId64
             " warps (filters x pixels) of %d pixels a lane; tiles of %" PRId64 " images x %" PRId64
             " x %" PRId64 " outputs in %" PRId64 " words; %" PRId64 " chunks of %" PRId64
             " channels at most, %s; borders made while staging; lists of %" PRId64
             " bytes; %" PRId64 " blocks, %" PRId64 " bytes shared, %" PRId64
             " blocks a multiprocessor; estimated "
             "%.3g us",
             s->tiling.places, t->filter_ways, t->pixel_ways, k->pixels, p->images, p->rows,
             p->columns, csrconv_block_words(t), t->stages, t->stage_channels, adder,
             s->tiling.list_quads * static_cast<int64_t>(sizeof(csrconv_quad)), t->blocks,
             t->shared_bytes, t->residents, t->us);
}

/* Loads the code, and allows all the shared memory that the device has. */
static csrconv_status ready_kernels(const csrconv_cuda_device *device, const split *s)
{
    const csrconv_status status = csrconv_cuda_check(
        cudaFuncSetAttribute(s->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(device->block_shared)),
        "cuda_split: shared memory");
    return status || !s->has_pass
               ? status
               : csrconv_cuda_load(reinterpret_cast<const void *>(add_chunks), "cuda_split");
}

csrconv_status csrconv_split_prepare_as(const struct csrconv_problem *problem,
                                        const struct csrconv_split_tiling *tiling,
                                        struct csrconv_prepared *prepared)
{
    struct csrconv_memory *memory = &prepared->memory;
    const csrconv_block_tiling *t = &tiling->block;
    const csrconv_block_kernel *k = &csrconv_block_kernels[t->kernel];
    csrconv_cuda_device device;
    csrconv_status status = csrconv_cuda_describe(&device);
    if (status || (status = csrconv_allocate(memory, 1, sizeof(split), &prepared->state)))
        return status;
    split *s = static_cast<split *>(prepared->state);
    *s = split{};
    s->tiling = *tiling;
    s->filter_tiles = problem->shape.g.groups * t->filter_tiles;
    s->has_pass = t->stages > 1 && tiling->adder == CSRCONV_ADD_IN_PASS;
    s->kernel = t->stages == 1 ? kernel_of<ALONE>(k->pixels)
                : s->has_pass  ? kernel_of<IN_PASS>(k->pixels)
                               : kernel_of<IN_CLUSTER>(k->pixels);
    s->starts_early = device.capability >= 90;
    if ((status = upload_lists(problem, memory, s)) || (status = upload_tables(problem, memory, s)))
        return status;
    s->args = args_of(problem, s);
    if (s->has_pass)
        prepared->workspace_bytes =
            static_cast<size_t>(t->blocks * csrconv_split_units(tiling)) * WARP * sizeof(float4);
    explain(s, prepared);
    return ready_kernels(&device, s);
}

/* Lists can turn out longer than expected; then with more room for them. */
csrconv_status csrconv_split_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared)
{
    const csrconv_prepared blank = *prepared;
    csrconv_split_tiling tiling;
    csrconv_status status;
    double spare = first_spare;
    memcpy(&tiling, prepared->estimate->mapping, sizeof tiling);
    status = csrconv_split_prepare_as(problem, &tiling, prepared);
    for (int i = 1; i < MOST_TRIES && status == CSRCONV_NOT_SUPPORTED; i++) {
        csrconv_split_destroy(&prepared->memory, prepared->state);
        *prepared = blank;
        spare *= more_spare;
        status = choose_tiling(self, problem, spare, &tiling);
        if (!status)
            status = csrconv_split_prepare_as(problem, &tiling, prepared);
    }
    return status;
}

/* A launch that may begin before the kernel before it has ended, of clusters of `blocks`. */
static csrconv_status launch(const split *s, split_kernel kernel, dim3 grid, unsigned threads,
                             int64_t shared, int64_t cluster, void *stream, const split_args &a)
{
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = static_cast<size_t>(shared);
    config.stream = static_cast<cudaStream_t>(stream);
    config.attrs = attributes;
    if (cluster > 1)
        ask_for_cluster(&config, attributes, cluster);
    if (s->starts_early) {
        cudaLaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    return csrconv_cuda_check(cudaLaunchKernelEx(&config, kernel, a), "cuda_split");
}

/* Some filter tiles of some image tiles, as many as a grid takes. */
static csrconv_status run_part(const split *s, const split_args &a, int64_t tiles,
                               int64_t filter_tiles, void *stream)
{
    const csrconv_block_tiling *t = &s->tiling.block;
    const unsigned rows = static_cast<unsigned>(filter_tiles);
    const unsigned threads = static_cast<unsigned>(t->filter_ways * t->pixel_ways * WARP);
    const csrconv_status status =
        launch(s, s->kernel, dim3(static_cast<unsigned>(tiles * t->stages), rows), threads,
               t->shared_bytes, s->has_pass ? 1 : t->stages, stream, a);
    if (status || !s->has_pass)
        return status;
    const int64_t parts = (csrconv_split_units(&s->tiling) * WARP - 1) / CSRCONV_ADDING_THREADS + 1;
    return launch(s, add_chunks,
                  dim3(static_cast<unsigned>(tiles), rows, static_cast<unsigned>(parts)),
                  CSRCONV_ADDING_THREADS, 0, 1, stream, a);
}

csrconv_status csrconv_split_execute(const void *state, const struct csrconv_run *run)
{
    const split *s = static_cast<const split *>(state);
    const csrconv_block_tiling *t = &s->tiling.block;
    const int64_t image_tiles = (run->n - 1) / t->patch.images + 1;
    const int64_t plane_tiles = t->row_tiles * t->column_tiles;
    const int64_t most = INT32_MAX / (plane_tiles * t->stages);
    split_args a = s->args;
    a.in = run->in;
    a.out = run->out;
    a.partial = static_cast<float4 *>(run->workspace);
    a.epilogue = csrconv::epilogue_of(run, nullptr); /* the lists have the bias */
    a.n = run->n;
    for (int64_t image = 0; image < image_tiles; image += most)
        for (int64_t filter = 0; filter < s->filter_tiles; filter += MOST_GRID_Y) {
            a.first_image_tile = image;
            a.first_filter_tile = filter;
            const csrconv_status status =
                run_part(s, a, csrconv_smaller(most, image_tiles - image) * plane_tiles,
                         csrconv_smaller(MOST_GRID_Y, s->filter_tiles - filter), run->stream);
            if (status)
                return status;
        }
    return CSRCONV_OK;
}

static const struct csrconv_split_traits traits = { true };

extern "C" const struct csrconv_algorithm csrconv_algorithm_cuda_split = {
    .traits = &traits,
    .info = { .name = "cuda_split",
              .summary = "small batches: channels split over blocks that add up their sums",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = csrconv_split_estimate,
    .prepare = csrconv_split_prepare,
    .execute = csrconv_split_execute,
    .destroy = csrconv_split_destroy,
};
