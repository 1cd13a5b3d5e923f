/*
 * The one interface of everything that can run a convolution: csrconv's own kernels on CPU and GPU
 * and the vendor libraries alike. A file ends in one constant of this type, named
 * csrconv_algorithm_NAME, and NAME stands once in a list in meson.build: the table is made from it.
 */
#ifndef CSRCONV_ALGORITHM_H
#define CSRCONV_ALGORITHM_H

#include "csr.h"
#include "geometry.h"
#include "memory.h"
#include "team.h"

#include <stdbool.h>

/*
 * What the blocked kernels are to do without, so that the worth of each choice can be measured. All
 * false but there: no plan of the public interface does without anything.
 */
struct csrconv_ablation {
    bool channel_blocks; /* all channels in one block */
    bool segment_order; /* filters as they come, not those with segments of equal length together */
    bool grouped_stores;  /* each tile is stored by itself */
    bool images_in_lanes; /* images one by one */
    bool pixels_in_lanes; /* images in vectors only; not together with the one before */
    /* Of the tiled CUDA kernel; the first and the last also of the one made of code. */
    bool row_order;      /* filters as they come, not dealt so that warps have equal work */
    bool pixel_tiles;    /* one filter and one output in a lane */
    bool staged_offsets; /* offsets and values loaded where they are needed, not ahead */
    bool eviction;       /* no eviction policies */
};

/* What of a compiled plan is kept, as the algorithm's `contents` gives it. */
struct csrconv_contents {
    const void *bytes;
    size_t size;
};

/* What an algorithm is asked to run; everything here has been checked. */
struct csrconv_problem {
    struct csrconv_shape shape;
    const struct csrconv_weights *weights;
    csrconv_epilogue epilogue;
    csrconv_device device;
    int ordinal;
    struct csrconv_team team; /* that runs a CPU plan, or compiles one */
    struct csrconv_ablation without;
    /*
     * Of a plan that was compiled before, to be taken and not compiled again: for the same weights,
     * geometry, epilogue and target, but not known to be well formed. bytes is NULL: none.
     */
    struct csrconv_contents compiled;
};

enum { CSRCONV_TARGET_BYTES = 64, CSRCONV_DETAIL_BYTES = 512, CSRCONV_VARIANT_BYTES = 64 };
enum { CSRCONV_MAPPING_BYTES = 384 };

/* What estimate finds. */
struct csrconv_estimate {
    double us; /* of one execute of the whole batch */
    /* How the problem is best mapped, in a form of the algorithm's own, if that took a search. */
    unsigned char mapping[CSRCONV_MAPPING_BYTES];
};

/* What prepare makes, and in front what it is given beside the problem. */
struct csrconv_prepared {
    struct csrconv_memory memory;            /* to take the state from */
    const struct csrconv_estimate *estimate; /* that this algorithm gave for this problem */
    void *state;                             /* of the algorithm */
    size_t workspace_bytes;
    bool is_in_place;                    /* lay_out has nothing to do for this problem */
    bool is_mixing;                      /* errors of neighbouring outputs mix: Winograd, FFT */
    char detail[CSRCONV_DETAIL_BYTES];   /* how the problem is mapped, for people */
    char variant[CSRCONV_VARIANT_BYTES]; /* the vendor's algorithm, of a peer; else "" */
};

/* One execute; the pointers have been checked. */
struct csrconv_run {
    const struct csrconv_shape *shape;
    const csrconv_epilogue *epilogue;
    const struct csrconv_team *team;
    int64_t n; /* images, at least 1 */
    const float *in;
    const float *residual; /* NULL: none */
    float *out;
    void *workspace;
    void *stream;
};

/*
 * estimate and prepare get the algorithm itself, so that several can share a function and differ by
 * their traits.
 */
struct csrconv_algorithm {
    const void *traits; /* what the functions want to know of this one; NULL if nothing */

    /* Floats of the vectors that it multiplies, if its speed is to be held against their peak. */
    int lanes;

    bool shares_loads; /* of a GPU's: one load of an input is for several nonzeros */

    csrconv_algorithm_info info; /* without struct_size and version */

    /* Version of the vendor's library, static storage; NULL: csrconv's own. */
    const char *(*version)(void);

    /*
     * CSRCONV_OK and what it finds; or a refusal, csrconv_fail() with a 3000 status and the reason,
     * and then nobody reads the estimate.
     */
    csrconv_status (*estimate)(const struct csrconv_algorithm *self,
                               const struct csrconv_problem *problem,
                               struct csrconv_estimate *estimate);

    /*
     * What the code is made for, such as "sm_90 by nvJitLink 13.0": a short text, in zeros, of an
     * algorithm whose prepare compiles the weights, which takes seconds. NULL: it compiles nothing.
     */
    csrconv_status (*target)(const struct csrconv_problem *problem,
                             char target[CSRCONV_TARGET_BYTES]);

    /* Of an algorithm that has a target: bytes of what is kept of a state; written unless NULL. */
    size_t (*contents)(const void *state, void *bytes);

    /*
     * Fills prepared->state, workspace_bytes and detail. After a failure, destroy gets the state as
     * far as it was made.
     */
    csrconv_status (*prepare)(const struct csrconv_algorithm *self,
                              const struct csrconv_problem *problem,
                              struct csrconv_prepared *prepared);

    /*
     * The passes over the activations that come before the kernel, such as padding, which execute
     * runs too: apart, so that they can be timed. NULL: none.
     */
    csrconv_status (*lay_out)(const void *state, const struct csrconv_run *run);

    /*
     * The computation alone, between layouts of the algorithm's own, as a peer's user would run it
     * who keeps activations in that layout: what is timed of such a peer. lay_out went before.
     * NULL: execute has no such inner part.
     */
    csrconv_status (*compute)(const void *state, const struct csrconv_run *run);

    csrconv_status (*execute)(const void *state, const struct csrconv_run *run);

    /* state may be NULL. */
    void (*destroy)(const struct csrconv_memory *memory, void *state);
};

/* The table made by meson, NULL-ended. */
extern const struct csrconv_algorithm *const csrconv_algorithm_table[];

/* The same of the peers; in the second library. */
extern const struct csrconv_algorithm *const csrconv_peer_table[];

#endif
