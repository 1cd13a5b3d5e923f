/*
 * The code of panels, as PTX: prints what the schedule says. One kernel for some panels of a plan,
 *
 *     csrconv_jit(in, out, residual, images)
 *
 * of tiling->threads threads and a grid of csrconv_jit_blocks x panels. residual is read if the
 * epilogue has one. Pointers need be aligned to 4 bytes only.
 */
#ifndef CSRCONV_JIT_PTX_H
#define CSRCONV_JIT_PTX_H

#include "jit_schedule.h"
#include "jit_text.h"

/*
 * The kernels of a plan follow one another on a stream, and may overlap: each lets the next begin
 * at once and, unless it is the first, ends only after the one before has.
 */
struct csrconv_jit_turn {
    bool is_first, is_last;
};

/* The kernel's head, for so many panels; they follow, each by csrconv_jit_ptx_panel. */
void csrconv_jit_ptx_begin(const struct csrconv_jit_tiling *tiling, int64_t panels,
                           struct csrconv_jit_text *text);

/* Panel `number`, from 0, of the kernel. */
void csrconv_jit_ptx_panel(const struct csrconv_problem *problem,
                           const struct csrconv_jit_tiling *tiling,
                           const struct csrconv_jit_panel *panel, int64_t number,
                           struct csrconv_jit_turn turn, struct csrconv_jit_text *text);

void csrconv_jit_ptx_end(struct csrconv_jit_text *text);

#endif
