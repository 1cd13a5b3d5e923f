/* Random layers with what they should compute, for tests that run a GPU's mapping on the CPU. */
#ifndef CSRCONV_UNIT_LAYER_FIXTURE_H
#define CSRCONV_UNIT_LAYER_FIXTURE_H

#include "tile_fixture.h"

/* A layer with small whole numbers, so that sums are exact in any order. */
struct layer_data {
    struct csrconv_problem problem;
    csrconv_weights *weights; /* the problem's */
    float *in, *out, *want;
    int64_t in_floats, out_floats;
};

void layer_make(struct random_state *random, struct layer_data *layer);
void layer_free(struct layer_data *layer);

/* An input element; zero outside the image. */
float layer_input(const struct layer_data *layer, int64_t n, int64_t c, int64_t y, int64_t x);

/* Before a run: every output a NaN. */
void layer_clear(struct layer_data *layer);

/* Stores an output where nobody stored one before. */
void layer_store(const struct layer_data *layer, int64_t n, int64_t m, int64_t y, int64_t x,
                 float value);

/* After it: all outputs as plain loops give them. */
void layer_check(const struct layer_data *layer);

#endif
