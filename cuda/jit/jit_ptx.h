/*
 * The code of panels, as PTX: prints what the schedule says. One kernel for all panels of a plan,
 *
 *     csrconv_jit(in, out, residual, images)
 *
 * of tiling->threads threads and a grid of csrconv_jit_blocks x panels. residual is read if the
 * epilogue has one. Pointers need be aligned to 4 bytes only.
 *
 * The kernel's entry is a text of its own that calls the panel's function. Functions are in texts
 * of a few, units: an assembler works through one text alone, in time that grows faster than the
 * text does. All that a function gets is where shared memory begins; the entry puts the kernel's
 * parameters there, since registers would hold them through all the code.
 */
#ifndef CSRCONV_JIT_PTX_H
#define CSRCONV_JIT_PTX_H

#include "jit_schedule.h"
#include "jit_text.h"

void csrconv_jit_ptx_entry(const struct csrconv_shape *shape,
                           const struct csrconv_jit_tiling *tiling, struct csrconv_jit_text *text);

/* What a unit begins with; its panels follow. */
void csrconv_jit_ptx_begin(struct csrconv_jit_text *text);

void csrconv_jit_ptx_panel(const struct csrconv_problem *problem,
                           const struct csrconv_jit_tiling *tiling,
                           const struct csrconv_jit_panel *panel, int64_t number,
                           struct csrconv_jit_text *text);

#endif
