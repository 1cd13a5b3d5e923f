/* What the files that print a panel's PTX share. */
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
    const struct csrconv_jit_panel *panel;
    int64_t number; /* the panel's */
    struct csrconv_jit_text *text;
};

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Of a stage's full barrier, from the begin of shared memory. */
static inline int64_t barrier_of(const struct printer *p, int64_t stage)
{
    return p->tiling->table_bytes + stage % p->tiling->ring * CSRCONV_JIT_BARRIER_BYTES;
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
    return tiling->table_bytes + tiling->ring * CSRCONV_JIT_BARRIER_BYTES + parameter;
}

/* Loads one of them; u64, but for the count of images. */
void csrconv_jit_print_parameter(const struct printer *p, const char *to, enum parameter parameter);

/* Of a stage's words, if its first image is not shifted. */
static inline int64_t place_of(const struct printer *p, int64_t stage)
{
    const struct csrconv_jit_tiling *t = p->tiling;
    return t->header_bytes +
           (stage % t->ring * t->stage_words + csrconv_jit_shift(p->shape, t, stage)) * WORD;
}

/* quotient and rest, registers, of another register; the quotient's is neither of the others. */
void csrconv_jit_print_divide(const struct printer *p, const char *quotient, const char *rest,
                              const char *numerator, int64_t by);

/* Which output is the thread's, where its window begins in a stage, which positions lie outside. */
void csrconv_jit_print_output(const struct printer *p);
void csrconv_jit_print_place(const struct printer *p);
void csrconv_jit_print_masks(const struct printer *p);

/* The sums, finished, to where they belong. */
void csrconv_jit_print_stores(const struct printer *p);

/* What copies need, once; and the begin of a stage's copies. */
void csrconv_jit_print_table(const struct printer *p);
void csrconv_jit_print_barriers(const struct printer *p);
void csrconv_jit_print_copies(const struct printer *p, int64_t stage);

#endif
