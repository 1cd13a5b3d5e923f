/* What GPUs there are, by the CUDA runtime and by the driver's library. In builds with CUDA. */
#ifndef CSRCONV_TOOLS_GPU_H
#define CSRCONV_TOOLS_GPU_H

#include "place.h"

/* 0 too where there is no driver. */
int gpu_count(void);

void gpu_describe(int ordinal, struct place_device *device);

/* Of the current GPU. */
struct floors gpu_floors(const struct csrconv_problem *problem,
                         const csrconv_algorithm_info *algorithm);

#endif
