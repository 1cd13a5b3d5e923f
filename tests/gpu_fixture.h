/* A layer on the GPU for the tests that need a real one, with the output that it must have. */
#ifndef CSRCONV_TESTS_GPU_FIXTURE_H
#define CSRCONV_TESTS_GPU_FIXTURE_H

#include "helpers.h"

#include <cuda_runtime_api.h>

enum { SKIPPED = 77 }; /* meson's exit code of a test that was skipped */

#define assert_cuda(call) check_cuda((call), #call, __FILE__, __LINE__)
void check_cuda(cudaError_t error, const char *call, const char *file, int line);

/* What one caller of a plan has of its own. */
struct gpu_buffers {
    float *in, *out;
    void *workspace;
    cudaStream_t stream;
};

struct gpu_layer {
    csrconv_geometry geometry;
    csrconv_weights *weights;
    csrconv_plan *plan;
    size_t workspace_bytes;
    int64_t in_floats, out_floats;
    float *in, *want; /* on the host; sums are exact, so every algorithm gives these bits */
};

/* A plan of that algorithm on cuda:0. */
void gpu_layer_make(struct gpu_layer *layer, const char *algorithm);
void gpu_layer_free(struct gpu_layer *layer);

/* Options for a plan of that algorithm on its device. */
csrconv_plan_options gpu_options(const char *algorithm);

/* With a stream that does not wait for the default one, and the input in place. */
void gpu_buffers_make(const struct gpu_layer *layer, struct gpu_buffers *buffers);
void gpu_buffers_free(struct gpu_buffers *buffers);

/* Fills the output with NaN; done on return. */
void gpu_buffers_clear(const struct gpu_layer *layer, const struct gpu_buffers *buffers);

/* Queues an execute of the whole batch on the buffers' stream. */
csrconv_status gpu_execute(const struct gpu_layer *layer, const struct gpu_buffers *buffers);

/* Waits for the stream; whether the output is right. */
bool gpu_output_is_right(const struct gpu_layer *layer, const struct gpu_buffers *buffers);

/* Calls test with the name of each of csrconv's own CUDA algorithms; starts no CUDA. */
void each_cuda_algorithm(void (*test)(const char *algorithm));

#endif
