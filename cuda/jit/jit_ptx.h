/*
 * The code of a panel, as PTX: prints what the schedule says. One kernel,
 *
 *     csrconv_jit(in, out, residual, images)
 *
 * of tiling->threads threads and csrconv_jit_blocks blocks; residual is read if the epilogue has
 * one. Pointers need be aligned to 4 bytes only.
 */
#ifndef CSRCONV_JIT_PTX_H
#define CSRCONV_JIT_PTX_H

#include "jit_schedule.h"
#include "jit_text.h"

/*
 * Kernels of the panels follow one another on a stream, and may overlap: each lets the next begin
 * at once and, unless it is the first, ends only after the one before has.
 */
struct csrconv_jit_turn {
    bool is_first, is_last;
};

void csrconv_jit_ptx_print(const struct csrconv_problem *problem,
                           const struct csrconv_jit_tiling *tiling,
                           const struct csrconv_jit_panel *panel, struct csrconv_jit_turn turn,
                           struct csrconv_jit_text *text);

#endif
