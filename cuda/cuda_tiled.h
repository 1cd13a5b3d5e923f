/* cuda_tiled with a tiling that is given, for programs that measure tilings. */
#ifndef CSRCONV_CUDA_TILED_H
#define CSRCONV_CUDA_TILED_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "block_tiling.h"

/* What prepare does once it has chosen; the algorithm's other functions take it from there. */
csrconv_status csrconv_tiled_prepare_as(const struct csrconv_problem *problem,
                                        const struct csrconv_block_tiling *tiling,
                                        struct csrconv_prepared *prepared);

/* What host code decides by, of the current GPU. */
csrconv_status csrconv_tiled_machine(struct csrconv_block_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
