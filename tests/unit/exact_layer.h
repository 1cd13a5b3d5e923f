/*
 * A layer with small whole numbers, so that sums are exact in any order, and its outputs by plain
 * loops over the CSR rows.
 */
#ifndef CSRCONV_UNIT_EXACT_LAYER_H
#define CSRCONV_UNIT_EXACT_LAYER_H

#include "tile_fixture.h"

struct exact_layer {
    struct csrconv_problem problem;
    float *in, *out, *want; /* the batch, with its strides; out is not filled */
    int64_t in_floats, out_floats;
};

/* Of problem.weights, whose values it sets. */
void exact_layer_init(struct exact_layer *layer, const csrconv_geometry *geometry,
                      struct random_state *random);

void exact_layer_free(struct exact_layer *layer);

/* An input element; zero outside the image. */
float exact_layer_input(const struct exact_layer *layer, int64_t n, int64_t c, int64_t y,
                        int64_t x);

/* An output that nobody has computed before. */
void exact_layer_store(const struct exact_layer *layer, int64_t n, int64_t m, int64_t pixel,
                       float sum);

/* No output has been computed; and all have, each right. */
void exact_layer_clear(struct exact_layer *layer);
void exact_layer_check(const struct exact_layer *layer);

#endif
