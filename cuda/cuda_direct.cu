/*
 * Direct sparse convolution in its plainest form on a GPU: one thread per output pixel walks the
 * nonzeros of its filter over the zero-bordered image. It runs everything; the fast kernels are
 * held against it.
 */
#include "cuda_model.h"
#include "cuda_pad.h"
#include "epilogue.cuh"

#include <stdio.h>

enum { THREADS = 256 };

/* The CSR matrix with stretched columns, and the bias, on the device. */
struct direct {
    int64_t *indptr;
    int64_t *offsets;
    float *values;
    float *bias;
};

struct direct_args {
    const int64_t *indptr;
    const int64_t *offsets;
    const float *values;
    const float *in; /* with borders */
    float *out;
    csrconv::epilogue epilogue;
    int64_t planes, plane_blocks; /* output planes; blocks of THREADS pixels that one takes */
    int64_t filters, group_filters, group_floats;
    int64_t in_stride, out_stride; /* floats from an image to the next */
    int64_t out_plane, out_w, row_step, column_step;
};

/* A block works on THREADS pixels of one output plane. */
static __global__ void __launch_bounds__(THREADS) convolve_direct(const direct_args a)
{
    for (int64_t block = blockIdx.x; block < a.planes * a.plane_blocks; block += gridDim.x) {
        const int64_t plane = block / a.plane_blocks;
        const int64_t image = plane / a.filters, filter = plane % a.filters;
        const int64_t pixel = block % a.plane_blocks * THREADS + threadIdx.x;
        const float *window = a.in + image * a.in_stride +
                              filter / a.group_filters * a.group_floats +
                              pixel / a.out_w * a.row_step + pixel % a.out_w * a.column_step;
        const int64_t at = image * a.out_stride + filter * a.out_plane + pixel;
        float sum = 0.0F;
        if (pixel >= a.out_plane)
            continue;
        for (int64_t i = __ldg(a.indptr + filter); i < __ldg(a.indptr + filter + 1); i++)
            sum = fmaf(__ldg(a.values + i), __ldg(window + __ldg(a.offsets + i)), sum);
        a.out[at] = csrconv::finish(a.epilogue, sum, filter, at);
    }
}

static void direct_destroy(const struct csrconv_memory *memory, void *state)
{
    direct *d = static_cast<direct *>(state);
    if (!d)
        return;
    csrconv_cuda_free(d->indptr);
    csrconv_cuda_free(d->offsets);
    csrconv_cuda_free(d->values);
    csrconv_cuda_free(d->bias);
    csrconv_release(memory, d);
}

static csrconv_status upload_offsets(const struct csrconv_problem *problem,
                                     struct csrconv_memory *memory, direct *d)
{
    const int64_t nonzeros = csrconv_nonzeros(problem->weights);
    struct csrconv_memory scratch = *memory; /* not the plan's: gone when the copy is done */
    void *offsets;
    csrconv_status status = csrconv_allocate(&scratch, nonzeros, sizeof(int64_t), &offsets);
    if (status)
        return status;
    csrconv_stretch(&problem->shape, problem->weights, static_cast<int64_t *>(offsets));
    status = csrconv_cuda_upload(memory, offsets, nonzeros, sizeof(int64_t),
                                 reinterpret_cast<void **>(&d->offsets));
    csrconv_release(&scratch, offsets);
    return status;
}

static csrconv_status direct_prepare(const struct csrconv_algorithm *,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared)
{
    const struct csrconv_shape *shape = &problem->shape;
    const struct csrconv_weights *w = problem->weights;
    struct csrconv_memory *memory = &prepared->memory;
    csrconv_status status = csrconv_allocate(memory, 1, sizeof(direct), &prepared->state);
    if (status)
        return status;
    direct *d = static_cast<direct *>(prepared->state);
    *d = direct{};
    if ((status = csrconv_cuda_upload(memory, w->indptr, w->filters + 1, sizeof *w->indptr,
                                      reinterpret_cast<void **>(&d->indptr))) ||
        (status = csrconv_cuda_upload(memory, w->values, csrconv_nonzeros(w), sizeof *w->values,
                                      reinterpret_cast<void **>(&d->values))) ||
        (status = upload_offsets(problem, memory, d)) ||
        (status = csrconv_cuda_upload_bias(problem, memory, &d->bias)) ||
        (status =
             csrconv_cuda_load(reinterpret_cast<const void *>(convolve_direct), "cuda_direct")))
        return status;
    prepared->is_in_place = !csrconv_has_padding(shape);
    if (!prepared->is_in_place)
        prepared->workspace_bytes =
            static_cast<size_t>(shape->g.batch * shape->padded_image) * sizeof(float);
    snprintf(prepared->detail, sizeof prepared->detail,
             "a thread per output pixel, blocks of %d, input %s", THREADS,
             prepared->is_in_place ? "read in place" : "padded by a pass before");
    return CSRCONV_OK;
}

static csrconv_status direct_lay_out(const void *, const struct csrconv_run *run)
{
    if (!csrconv_has_padding(run->shape))
        return CSRCONV_OK;
    return csrconv_cuda_pad_images(run->shape, run->n, run->in,
                                   static_cast<float *>(run->workspace), run->stream);
}

static csrconv_status direct_execute(const void *state, const struct csrconv_run *run)
{
    const direct *d = static_cast<const direct *>(state);
    const struct csrconv_shape *shape = run->shape;
    const bool is_padded = csrconv_has_padding(shape);
    const csrconv_status status = direct_lay_out(state, run);
    const direct_args a = {
        .indptr = d->indptr,
        .offsets = d->offsets,
        .values = d->values,
        .in = is_padded ? static_cast<const float *>(run->workspace) : run->in,
        .out = run->out,
        .epilogue = csrconv::epilogue_of(run, d->bias),
        .planes = run->n * shape->g.filters,
        .plane_blocks = (shape->out_plane - 1) / THREADS + 1,
        .filters = shape->g.filters,
        .group_filters = shape->group_filters,
        .group_floats = shape->group_channels * shape->padded_plane,
        .in_stride = is_padded ? shape->padded_image : shape->g.in_batch_stride,
        .out_stride = shape->g.out_batch_stride,
        .out_plane = shape->out_plane,
        .out_w = shape->out_w,
        .row_step = shape->g.stride_h * shape->padded_w,
        .column_step = shape->g.stride_w,
    };
    if (status)
        return status;
    convolve_direct<<<csrconv_cuda_grid(a.planes * a.plane_blocks), THREADS, 0,
                      static_cast<cudaStream_t>(run->stream)>>>(a);
    return csrconv_cuda_launched("cuda_direct");
}

/*
 * Two loads for each product, of which the second waits for the first: on an H200 a seventh of what
 * the load pipe could do, and 0.3 us for each nonzero of a filter however little there is to do.
 */
static csrconv_status direct_estimate(const struct csrconv_algorithm *,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate)
{
    const double least_us = 5.0, share = 0.15, chain_us = 0.3;
    const double length = static_cast<double>(csrconv_nonzeros(problem->weights)) /
                          static_cast<double>(problem->shape.g.filters);
    estimate->us = least_us + chain_us * length + csrconv_cuda_load_floor_us(problem) / share;
    return CSRCONV_OK;
}

extern "C" const struct csrconv_algorithm csrconv_algorithm_cuda_direct = {
    .info = { .name = "cuda_direct",
              .summary = "stretched CSR, a thread per output pixel, the GPU's specification",
              .device = CSRCONV_DEVICE_CUDA,
              .math = "fp32",
              .layout = "nchw" },
    .estimate = direct_estimate,
    .prepare = direct_prepare,
    .lay_out = direct_lay_out,
    .execute = direct_execute,
    .destroy = direct_destroy,
};
