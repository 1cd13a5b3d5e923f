/* Whether a run of cuda_jit's code brought from memory what it had to, and no more. */
#ifndef CSRCONV_UNIT_JIT_TRAFFIC_H
#define CSRCONV_UNIT_JIT_TRAFFIC_H

#include "ptx_machine.h"

#include "jit_tiling.h"

/* The inputs, for that many images. */
void check_copied(const struct csrconv_shape *shape, const struct csrconv_jit_tiling *tiling,
                  int64_t images, const struct ptx_traffic *traffic);

/* The code, of parts that have so many lines each, by so many blocks a part. Sorts the fetches. */
void check_fetched(const struct csrconv_jit_tiling *tiling, int64_t blocks, const int64_t *lines,
                   int64_t parts, struct ptx_traffic *traffic);

#endif
