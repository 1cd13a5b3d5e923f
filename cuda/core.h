/* The portable part's interfaces, as both C and CUDA C++ see them. */
#ifndef CSRCONV_CUDA_CORE_H
#define CSRCONV_CUDA_CORE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "algorithm.h"
#include "epilogue.h"
#include "pad.h"
#include "status.h"
#include "stretch.h"

#ifdef __cplusplus
}
#endif

#endif
