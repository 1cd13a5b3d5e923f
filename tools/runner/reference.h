/*
 * The right answers for a workload, made once and held against every algorithm. Above 4 GFLOP the
 * oracle covers the first and the last image and seeded single outputs.
 */
#ifndef CSRCONV_TOOLS_REFERENCE_H
#define CSRCONV_TOOLS_REFERENCE_H

#include "workload.h"

/* A single output and what it should be. */
struct reference_sample {
    int64_t n, m, y, x;
    double want, magnitude;
};

struct reference {
    bool is_full;
    int64_t images; /* that are covered whole: all, or the first and the last */
    double *want;   /* images * filters * out_h * out_w */
    double *magnitude;
    int64_t samples;
    struct reference_sample *sample;
};

int reference_make(const struct workload *workload, uint64_t seed, struct reference *reference);
void reference_free(struct reference *reference);

/* Which image of the batch stands at place i of `images`. */
int64_t reference_image(const struct reference *reference, const struct workload *workload,
                        int64_t i);

/* How exact an algorithm has to be. */
struct tolerance {
    bool is_exact;  /* to the bit */
    bool is_dense;  /* adds up the zeros too */
    double unit;    /* the rounding unit u of its products */
    double factor;  /* on the bound; 1, or 32 for Winograd and FFT */
    bool is_mixing; /* errors of neighbouring outputs mix, as Winograd's do */
};

struct tolerance tolerance_of(const struct workload *workload, const csrconv_algorithm_info *info,
                              bool is_mixing);

/* What a comparison came to. */
struct verdict {
    bool is_right;
    double max_error; /* the largest error as a fraction of its bound */
    char text[256];   /* the first wrong output, or "" */
};

/*
 * Holds the first out->n images of an output against the reference; everything else in its block
 * must still be what workload_fill_canaries made it.
 */
void reference_compare(const struct reference *reference, const struct workload *workload,
                       const struct tolerance *tolerance, const struct guarded *out,
                       struct verdict *verdict);

/*
 * Holds every output against those of another algorithm, with the bounds of both: what a sampled
 * reference leaves unseen.
 */
void reference_compare_outputs(const struct workload *workload, const struct tolerance *tolerance,
                               const struct guarded *out, const struct tolerance *other_tolerance,
                               const struct guarded *other, const char *other_name,
                               struct verdict *verdict);

#endif
