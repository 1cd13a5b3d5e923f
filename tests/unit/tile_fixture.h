/* Random layers for the tests of what the blocked kernels are made of, and an instruction set. */
#ifndef CSRCONV_UNIT_TILE_FIXTURE_H
#define CSRCONV_UNIT_TILE_FIXTURE_H

#include "helpers.h"

#include "algorithm.h"
#include "random.h"
#include "tile_isa.h"

/* Small, with any stride, dilation, padding and groups that leave an output. */
csrconv_geometry random_geometry(struct random_state *state);

/* Weights of that geometry: some filters empty, the others of random density. */
csrconv_weights *random_weights(struct random_state *state, const csrconv_geometry *geometry);

/* Of filters that get ever longer. */
csrconv_weights *uneven_weights(const csrconv_geometry *geometry);

/* In [least, most]. */
int64_t random_between(struct random_state *state, int64_t least, int64_t most);

/* What tile_isa.h asks for in plain C, for vectors of so many floats; without kernels. */
extern const struct csrconv_tile_isa plain_isa_of_8, plain_isa_of_16;

#endif
