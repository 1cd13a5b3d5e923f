/* What the unit tests share. */
#ifndef CSRCONV_UNIT_HELPERS_H
#define CSRCONV_UNIT_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it. */
#include <cmocka.h>

#include "csrconv.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* The call must fail with that status, and leave a sentence that holds the fragment. */
#define assert_fails(call, status, fragment)                                                       \
    check_failure((call), (status), (fragment), #call, __FILE__, __LINE__)
void check_failure(csrconv_status got, csrconv_status want, const char *fragment, const char *call,
                   const char *file, int line);

#define assert_ok(call) check_success((call), #call, __FILE__, __LINE__)
void check_success(csrconv_status got, const char *call, const char *file, int line);

/* A geometry with everything else as the init function leaves it. */
csrconv_geometry geometry_of(int64_t channels, int64_t height, int64_t width, int64_t filters,
                             int64_t kernel_h, int64_t kernel_w);

/* Weights of that geometry with values from a fixed series, every third one pruned. */
csrconv_weights *weights_of(const csrconv_geometry *geometry);

/* Fills floats with such a series: small, of both signs, none of them 0. */
void fill_series(float *floats, int64_t count);

/* Allocator hooks that keep count. */
struct counted {
    int64_t live; /* blocks not released */
    size_t live_bytes;
    int64_t allocations; /* asked for */
    int64_t fail_at;     /* the one (from 1) that fails; 0: none */
    bool is_odd;         /* asked for 0 bytes, or for an alignment that is no power of two */
};
csrconv_allocator counted_allocator(struct counted *counted);

/* An algorithm's description. */
csrconv_algorithm_info info_of(const csrconv_algorithm *algorithm);

/* Whether the algorithm runs on this machine; says why where it does not. */
bool runs_here(const csrconv_algorithm *algorithm);

/* The same, and on the CPU. */
bool runs_on_cpu(const csrconv_algorithm *algorithm);

/* Calls test for each of csrconv's own algorithms that can run on this machine. */
void each_own_algorithm(void (*test)(const csrconv_algorithm *algorithm));

/* A layer to run: host memory, all of it the test's. */
struct layer {
    csrconv_geometry geometry;
    const csrconv_weights *weights;
    csrconv_plan_options options; /* but for the device and the algorithm */
    int64_t n;
    const float *in;       /* batch * in_batch_stride floats */
    const float *residual; /* NULL, or as out */
};

/* Sets up a layer: the whole batch, default options. */
struct layer layer_of(const csrconv_geometry *geometry, const csrconv_weights *weights,
                      const float *in);

/* Floats of the whole batch, batch strides included. */
int64_t layer_in_floats(const struct layer *layer);
int64_t layer_out_floats(const struct layer *layer);

/*
 * Runs the layer at the place where the algorithm's plans run. out, layer_out_floats long, goes
 * there before and comes back after.
 */
void layer_run(const struct layer *layer, const csrconv_algorithm *algorithm, float *out);

#endif
