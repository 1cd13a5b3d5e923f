/*
 * The code of parts, as PTX: prints what the schedule says. One kernel for all parts of a plan,
 *
 *     csrconv_jit(in, out, residual, images)
 *
 * of tiling->threads threads and a grid of csrconv_jit_blocks x panels x chunks, in which the
 * chunks make clusters. residual is read if the epilogue has one. Pointers need be aligned to 4
 * bytes only.
 *
 * The kernel's entry is a text of its own that calls the part's function. Functions are in texts of
 * a few, units: an assembler works through one text alone, in time that grows faster than the text
 * does. All that a function gets is where shared memory begins; the entry puts the kernel's
 * parameters there, since registers would hold them through all the code.
 */
#ifndef CSRCONV_JIT_PTX_H
#define CSRCONV_JIT_PTX_H

#include "jit_schedule.h"
#include "jit_text.h"

enum { CSRCONV_JIT_FETCHING_BLOCKS = 16 }; /* that share a part's code to fetch it; a power of 2 */

void csrconv_jit_ptx_entry(const struct csrconv_shape *shape,
                           const struct csrconv_jit_tiling *tiling, struct csrconv_jit_text *text);

/* What a unit begins with; its parts follow. */
void csrconv_jit_ptx_begin(struct csrconv_jit_text *text);

/* Of 128 bytes each: at least so many will be full of a part's code. */
int64_t csrconv_jit_code_lines(const struct csrconv_jit_part *part);

void csrconv_jit_ptx_part(const struct csrconv_problem *problem,
                          const struct csrconv_jit_tiling *tiling,
                          const struct csrconv_jit_part *part, struct csrconv_jit_text *text);

#endif
