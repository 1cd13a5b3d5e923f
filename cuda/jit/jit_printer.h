/* What the files that print a part's PTX share. */
#ifndef CSRCONV_JIT_PRINTER_H
#define CSRCONV_JIT_PRINTER_H

#include "jit_ptx.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
#define say(...) csrconv_jit_print(p->text, __VA_ARGS__)
/* clang-format on */

enum { WORD = 4 };

struct printer {
    const struct csrconv_problem *problem;
    const struct csrconv_shape *shape;
    const struct csrconv_jit_tiling *tiling;
    const struct csrconv_jit_part *part;
    struct csrconv_jit_text *text;
};

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Of a barrier: of those stages held, and behind them that of sums given; from the begin of shared
 * memory. */
static inline int64_t barrier_at(const struct printer *p, int64_t index)
{
    return p->tiling->table_bytes + index * CSRCONV_JIT_BARRIER_BYTES;
}

/* Which of the stages held is that stage. */
static inline int64_t held_of(const struct printer *p, int64_t stage)
{
    return (stage - p->part->first_stage) % p->tiling->ring;
}

static inline int64_t barrier_of(const struct printer *p, int64_t stage)
{
    return barrier_at(p, held_of(p, stage));
}

/* Of the kernel's parameters, which only its entry can read where they are. */
enum parameter {
    PARAMETER_IN = 0,
    PARAMETER_OUT = 8,
    PARAMETER_RESIDUAL = 16,
    PARAMETER_IMAGES = 24
};

static inline int64_t parameter_of(const struct csrconv_jit_tiling *tiling,
                                   enum parameter parameter)
{
    return tiling->table_bytes + csrconv_jit_barriers(tiling) * CSRCONV_JIT_BARRIER_BYTES +
           parameter;
}

/* Loads one of them; u64, but for the count of images. */
void csrconv_jit_print_parameter(const struct printer *p, const char *to, enum parameter parameter);

/* Of a stage's words, if its first image is not shifted. */
static inline int64_t place_of(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    return t->header_bytes +
           (held_of(p, stage) * t->stage_words + csrconv_jit_shift(p->shape, t, stage)) * WORD;
}

/* quotient and rest, registers, of another register; the quotient's is neither of the others. */
void csrconv_jit_print_divide(const struct printer *p, const char *quotient, const char *rest,
                              const char *numerator, int64_t by);

/* Which output is the thread's, where its window begins in a stage, which positions lie outside. */
void csrconv_jit_print_output(const struct printer *p);
void csrconv_jit_print_place(const struct printer *p);
void csrconv_jit_print_masks(const struct printer *p);

/*
 * What a block expects of the others of its cluster, said by one thread; and the sums of all of
 * them, for the filters that the block adds.
 */
void csrconv_jit_print_expected(const struct printer *p);
void csrconv_jit_print_exchange(const struct printer *p);

/* Where the filters that the block of a chunk adds begin; those of the next end them. */
static inline int64_t first_filter(const struct printer *p, int64_t chunk)
{
    return csrconv_jit_share(p->part->filters, p->tiling->chunks, chunk);
}

static inline int64_t count_filters(const struct printer *p, int64_t chunk)
{
    return first_filter(p, chunk + 1) - first_filter(p, chunk);
}

/* The sums of the block's filters, finished, to where they belong. */
void csrconv_jit_print_stores(const struct printer *p);

/* What copies need, once; and the begin of a stage's copies. */
void csrconv_jit_print_table(const struct printer *p);
void csrconv_jit_print_barriers(const struct printer *p);
void csrconv_jit_print_copies(const struct printer *p, int64_t stage);

#endif
