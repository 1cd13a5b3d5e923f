/*
 * The positions of a kernel, (r, s), as generated code sees them: which of them lie outside the
 * image for some output, and so are loaded under a predicate, and what they take of the registers.
 *
 * A masked position keeps an input register of its own, which is zero where its predicate is false.
 * Predicates are few, so positions go by groups: a stage works through one group after the other.
 */
#ifndef CSRCONV_JIT_POSITIONS_H
#define CSRCONV_JIT_POSITIONS_H

#include "core.h"

enum {
    CSRCONV_JIT_GROUP = 5, /* positions; there are seven predicates */
    CSRCONV_JIT_KEPT = 9   /* up to so many positions keep their registers through all stages */
};

static inline int64_t csrconv_jit_positions(const struct csrconv_shape *shape)
{
    return shape->g.kernel_h * shape->g.kernel_w;
}

static inline int64_t csrconv_jit_groups(const struct csrconv_shape *shape)
{
    return (csrconv_jit_positions(shape) - 1) / CSRCONV_JIT_GROUP + 1;
}

/* Whether a position's register is zeroed once, not at the beginning of each group. */
static inline bool csrconv_jit_keeps_registers(const struct csrconv_shape *shape)
{
    return csrconv_jit_positions(shape) <= CSRCONV_JIT_KEPT;
}

/* Whether the position meets a border for some output. */
bool csrconv_jit_is_masked(const struct csrconv_shape *shape, int64_t position);

int64_t csrconv_jit_count_masked(const struct csrconv_shape *shape);

/* Registers of a thread beside its sums. */
int64_t csrconv_jit_other_registers(const struct csrconv_shape *shape);

#endif
