/*
 * The blocked direct convolution, whatever the instruction set: what direct_avx2 and direct_avx512
 * put into their constants.
 */
#ifndef CSRCONV_TILED_H
#define CSRCONV_TILED_H

#include "algorithm.h"
#include "tile_isa.h"

csrconv_status csrconv_tiled_estimate(const struct csrconv_algorithm *self,
                                      const struct csrconv_problem *problem,
                                      struct csrconv_estimate *estimate);
csrconv_status csrconv_tiled_prepare(const struct csrconv_algorithm *self,
                                     const struct csrconv_problem *problem,
                                     struct csrconv_prepared *prepared);
csrconv_status csrconv_tiled_lay_out(const void *state, const struct csrconv_run *run);
csrconv_status csrconv_tiled_execute(const void *state, const struct csrconv_run *run);
void csrconv_tiled_destroy(const struct csrconv_memory *memory, void *state);

#endif
