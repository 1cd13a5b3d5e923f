/* The CUDA runtime with this library's statuses and sentences. */
#ifndef CSRCONV_CUDA_RUNTIME_H
#define CSRCONV_CUDA_RUNTIME_H

#include "core.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CSRCONV_OK, or a status and a sentence that begins with `what`; clears the runtime's last error.
 * CSRCONV_NO_DEVICE where driver, GPU and this build do not go together, CSRCONV_OUT_OF_MEMORY
 * where the GPU's memory is short, CSRCONV_EXECUTION_FAILED for everything else: a fault, above
 * all, after which CUDA fails every call of the process with the same error.
 */
csrconv_status csrconv_cuda_check(cudaError_t error, const char *what);

/*
 * Loads a kernel's code, which CUDA else does at its first launch: so that an execute takes no
 * memory. For prepare.
 */
csrconv_status csrconv_cuda_load(const void *kernel, const char *name);

/* For the line after a launch. */
csrconv_status csrconv_cuda_launched(const char *kernel);

/*
 * *out = device memory of count elements, counted in memory->bytes; a valid pointer also for a
 * count of 0. CSRCONV_OUT_OF_MEMORY names the bytes.
 */
csrconv_status csrconv_cuda_allocate(struct csrconv_memory *memory, int64_t count, size_t size,
                                     void **out);

/* The same, filled from the host; the copy is done on return. */
csrconv_status csrconv_cuda_upload(struct csrconv_memory *memory, const void *from, int64_t count,
                                   size_t size, void **out);

/* The same of a problem's bias; *bias = NULL if the problem has none. */
csrconv_status csrconv_cuda_upload_bias(const struct csrconv_problem *problem,
                                        struct csrconv_memory *memory, float **bias);

/* NULL is accepted. */
void csrconv_cuda_free(void *device);

/* What a device is, of the things that host code decides by. */
struct csrconv_cuda_device {
    int processors;           /* streaming multiprocessors */
    int capability;           /* 10 * major + minor */
    int64_t block_shared;     /* bytes of shared memory that one block can have, opted in */
    int64_t processor_shared; /* and that all blocks of a multiprocessor have together */
    int64_t l2_bytes;
    double clock_ghz;
};

/* Of the current device. */
csrconv_status csrconv_cuda_describe(struct csrconv_cuda_device *device);

/* A grid of at most 2^31 - 1 blocks; kernels step through the rest. */
static inline unsigned csrconv_cuda_grid(int64_t blocks)
{
    return blocks < INT32_MAX ? (unsigned)blocks : (unsigned)INT32_MAX;
}

#ifdef __cplusplus
}
#endif

#endif
