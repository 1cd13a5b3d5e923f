/* The plans that cuDNN's heuristics propose for a graph, and running one of them. */
#ifndef CSRCONV_CUDNN_PLAN_H
#define CSRCONV_CUDNN_PLAN_H

#include "cudnn_graph.h"

/* The arithmetic that a peer allows; its traits point to one of these. */
struct csrconv_cudnn_math {
    bool is_half;        /* activations and weights are float16 */
    bool is_tensor_core; /* else float32 products only */
};

enum { CSRCONV_CUDNN_KNOBS_BYTES = 192 };

/* One way to run a graph: an engine with its knobs set. */
struct csrconv_cudnn_plan {
    cudnnBackendDescriptor_t config, plan; /* plan is NULL before csrconv_cudnn_plans_build */
    int64_t engine;
    int64_t workspace_bytes;
    unsigned notes;                        /* bit n: cudnnBackendNumericalNote_t n */
    bool is_compiled;                      /* by cuDNN, at run time */
    char knobs[CSRCONV_CUDNN_KNOBS_BYTES]; /* "type=value ..." by cuDNN's numbers */
};

void csrconv_cudnn_plan_free(struct csrconv_cudnn_plan *plan);

enum { CSRCONV_CUDNN_MOST_PLANS = 24 };

struct csrconv_cudnn_plans {
    struct csrconv_cudnn_plan plan[CSRCONV_CUDNN_MOST_PLANS];
    int count;
};

/* Whether plans with these numerical notes do what the arithmetic allows. */
bool csrconv_cudnn_allows(const struct csrconv_cudnn_math *math, unsigned notes);

/* "Winograd" or "FFT", whose errors mix neighbouring outputs; else NULL. */
const char *csrconv_cudnn_transform(unsigned notes);

/*
 * What the heuristics propose of what the arithmetic allows, best first, and the transforms that
 * they leave out; not built yet. Nothing that is compiled for tensors without whole vectors. At
 * least one, or CSRCONV_NOT_SUPPORTED. csrconv_cudnn_plans_free is right after a failure too.
 */
csrconv_status csrconv_cudnn_plans_find(const struct csrconv_cudnn_graph *graph,
                                        const struct csrconv_cudnn_math *math,
                                        struct csrconv_cudnn_plans *plans);

/* Builds them all and keeps those that can be built and ask for a workspace within reason. */
csrconv_status csrconv_cudnn_plans_build(cudnnHandle_t handle, struct csrconv_cudnn_plans *plans);

void csrconv_cudnn_plans_free(struct csrconv_cudnn_plans *plans);

/* Where a plan's tensors stand on the device. */
struct csrconv_cudnn_buffers {
    const void *in, *weights;
    void *out, *workspace;
};

/* Queues one run on the stream. */
csrconv_status csrconv_cudnn_plan_run(cudnnHandle_t handle, const struct csrconv_cudnn_plan *plan,
                                      const struct csrconv_cudnn_buffers *buffers,
                                      cudaStream_t stream);

#endif
