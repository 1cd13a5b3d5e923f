#include "peer_epilogue.h"

#include "epilogue.cuh"

enum { THREADS = 256 };

struct epilogue_args {
    float *out;
    csrconv::epilogue epilogue;
    int64_t images, image_blocks; /* blocks of THREADS floats that an image takes */
    int64_t out_stride, out_image, out_plane;
};

static __global__ void __launch_bounds__(THREADS) apply_epilogue(const epilogue_args a)
{
    for (int64_t block = blockIdx.x; block < a.images * a.image_blocks; block += gridDim.x) {
        const int64_t i = block % a.image_blocks * THREADS + threadIdx.x;
        const int64_t at = block / a.image_blocks * a.out_stride + i;
        if (i < a.out_image)
            a.out[at] = csrconv::finish(a.epilogue, a.out[at], i / a.out_plane, at);
    }
}

csrconv_status csrconv_cuda_peer_epilogue(const struct csrconv_run *run, const float *device_bias)
{
    const struct csrconv_shape *shape = run->shape;
    const epilogue_args a = {
        .out = run->out,
        .epilogue = csrconv::epilogue_of(run, device_bias),
        .images = run->n,
        .image_blocks = (shape->out_image - 1) / THREADS + 1,
        .out_stride = shape->g.out_batch_stride,
        .out_image = shape->out_image,
        .out_plane = shape->out_plane,
    };
    if (!device_bias && !run->residual && run->epilogue->activation == CSRCONV_ACTIVATION_NONE)
        return CSRCONV_OK;
    apply_epilogue<<<csrconv_cuda_grid(a.images * a.image_blocks), THREADS, 0,
                     static_cast<cudaStream_t>(run->stream)>>>(a);
    return csrconv_cuda_launched("the epilogue");
}
