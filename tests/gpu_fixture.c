#include "gpu_fixture.h"

#include <stdlib.h>
#include <string.h>

void check_cuda(cudaError_t error, const char *call, const char *file, int line)
{
    if (error) {
        print_error("%s\n  gave %s: %s\n", call, cudaGetErrorName(error),
                    cudaGetErrorString(error));
        _fail(file, line);
    }
}

csrconv_plan_options gpu_options(const char *algorithm)
{
    csrconv_plan_options options;
    csrconv_plan_options_init(&options);
    options.algorithm = algorithm;
    return options;
}

/* What the CPU's specification gives. */
static void fill_want(struct gpu_layer *layer)
{
    const csrconv_plan_options options = gpu_options("direct");
    csrconv_plan_info info = { .struct_size = sizeof info };
    csrconv_plan *plan;
    void *workspace;
    assert_ok(csrconv_plan_create(layer->weights, &layer->geometry, &options, &plan));
    assert_ok(csrconv_plan_describe(plan, &info));
    workspace = aligned_alloc(64, (info.workspace_bytes + 64) / 64 * 64);
    assert_non_null(workspace);
    assert_ok(csrconv_execute(plan, layer->geometry.batch, layer->in, layer->want, workspace,
                              info.workspace_bytes, NULL));
    free(workspace);
    csrconv_plan_destroy(&plan);
}

void gpu_layer_make(struct gpu_layer *layer, const char *algorithm)
{
    const csrconv_plan_options options = gpu_options(algorithm);
    csrconv_geometry *g = &layer->geometry;
    csrconv_plan_info info = { .struct_size = sizeof info };
    *g = geometry_of(16, 13, 13, 24, 3, 3);
    g->batch = 5;
    g->pad_top = g->pad_left = g->pad_bottom = g->pad_right = 1;
    layer->in_floats = g->batch * g->channels * g->height * g->width;
    layer->out_floats = g->batch * g->filters * g->height * g->width;
    layer->weights = weights_of(g);
    layer->in = test_malloc((size_t)layer->in_floats * sizeof *layer->in);
    layer->want = test_malloc((size_t)layer->out_floats * sizeof *layer->want);
    fill_series(layer->in, layer->in_floats);
    fill_want(layer);
    assert_ok(csrconv_plan_create(layer->weights, g, &options, &layer->plan));
    assert_ok(csrconv_plan_describe(layer->plan, &info));
    layer->workspace_bytes = info.workspace_bytes;
}

void gpu_layer_free(struct gpu_layer *layer)
{
    csrconv_plan_destroy(&layer->plan);
    csrconv_weights_destroy(&layer->weights);
    test_free(layer->want);
    test_free(layer->in);
}

void gpu_buffers_make(const struct gpu_layer *layer, struct gpu_buffers *b)
{
    const size_t in_bytes = (size_t)layer->in_floats * sizeof(float);
    assert_cuda(cudaMalloc((void **)&b->in, in_bytes));
    assert_cuda(cudaMalloc((void **)&b->out, (size_t)layer->out_floats * sizeof(float)));
    assert_cuda(cudaMalloc(&b->workspace, layer->workspace_bytes + 1));
    assert_cuda(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
    assert_cuda(cudaMemcpyAsync(b->in, layer->in, in_bytes, cudaMemcpyHostToDevice, b->stream));
    gpu_buffers_clear(layer, b);
}

void gpu_buffers_free(struct gpu_buffers *b)
{
    assert_cuda(cudaStreamDestroy(b->stream));
    assert_cuda(cudaFree(b->workspace));
    assert_cuda(cudaFree(b->out));
    assert_cuda(cudaFree(b->in));
}

void gpu_buffers_clear(const struct gpu_layer *layer, const struct gpu_buffers *b)
{
    assert_cuda(
        cudaMemsetAsync(b->out, 0xff, (size_t)layer->out_floats * sizeof(float), b->stream));
    assert_cuda(cudaStreamSynchronize(b->stream));
}

csrconv_status gpu_execute(const struct gpu_layer *layer, const struct gpu_buffers *b)
{
    return csrconv_execute(layer->plan, layer->geometry.batch, b->in, b->out, b->workspace,
                           layer->workspace_bytes, b->stream);
}

bool gpu_output_is_right(const struct gpu_layer *layer, const struct gpu_buffers *b)
{
    const size_t bytes = (size_t)layer->out_floats * sizeof(float);
    float *got = malloc(bytes);
    const bool is_right = got &&
                          !cudaMemcpyAsync(got, b->out, bytes, cudaMemcpyDeviceToHost, b->stream) &&
                          !cudaStreamSynchronize(b->stream) && memcmp(got, layer->want, bytes) == 0;
    free(got);
    return is_right;
}

void each_cuda_algorithm(void (*test)(const char *algorithm))
{
    for (const csrconv_algorithm *const *a = csrconv_algorithms(); *a; a++) {
        const csrconv_algorithm_info info = info_of(*a);
        if (info.device == CSRCONV_DEVICE_CUDA)
            test(info.name);
    }
}
