/* Bias, residual and activation as a pass of its own, for peers whose libraries have none. */
#ifndef CSRCONV_CUDA_PEER_EPILOGUE_H
#define CSRCONV_CUDA_PEER_EPILOGUE_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues it onto the sums that stand in run->out; nothing if the problem has no epilogue. */
csrconv_status csrconv_cuda_peer_epilogue(const struct csrconv_run *run, const float *device_bias);

#ifdef __cplusplus
}
#endif

#endif
