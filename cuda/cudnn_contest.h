/* The fastest of cuDNN's plans for a convolution between tensors of one format, on this GPU. */
#ifndef CSRCONV_CUDNN_CONTEST_H
#define CSRCONV_CUDNN_CONTEST_H

#include "cudnn_plan.h"

struct csrconv_cudnn_winner {
    struct csrconv_cuda_format format;
    struct csrconv_cudnn_graph graph;
    struct csrconv_cudnn_plan plan;
    void *weights; /* on the device, in the format */
    size_t weights_bytes;
    int rivals; /* plans that were timed, this one too */
    double us;
};

/*
 * Times every plan between tensors made for it. dense is what csrconv_dense_weights makes, on the
 * device. CSRCONV_EXECUTION_FAILED, with the engine's name, if a plan faults: nothing runs on the
 * GPU any more then. csrconv_cudnn_winner_free is right after a failure too.
 */
csrconv_status csrconv_cudnn_contest(cudnnHandle_t handle, const struct csrconv_problem *problem,
                                     const struct csrconv_cudnn_math *math, const float *dense,
                                     bool is_nhwc, struct csrconv_cudnn_winner *winner);

void csrconv_cudnn_winner_free(struct csrconv_cudnn_winner *winner);

#endif
