/*
 * A GPU for cuDNN that is only described. The calls that set a descriptor's attributes go through
 * this file, by the linker's --wrap, and it puts the description in the place of a handle.
 */
#ifndef CUDNN_FIXTURE_H
#define CUDNN_FIXTURE_H

#include "helpers.h"

#include "cudnn_graph.h"

/* NULL where there is none. */
extern cudnnBackendDescriptor_t described_gpu;

/* Makes an H200; false and a sentence where cuDNN cannot. */
bool describe_gpu(void);

#endif
