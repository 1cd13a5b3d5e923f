/*
 * Pruned weights where there are none to read: random, but as uneven as those of real pruned layers
 * (docs/patterns.md has the measurements), and the same on every machine.
 */
#ifndef CSRCONV_TOOLS_PROBLEM_PATTERN_H
#define CSRCONV_TOOLS_PROBLEM_PATTERN_H

#include "csrconv.h"

enum pattern_values {
    PATTERN_REAL,    /* of either sign, 0 < |w| <= 1, multiples of 2^-23 */
    PATTERN_INTEGERS /* -2, -1, 1, 2: sums of small products stay exact in float */
};

enum { PATTERN_NAME_SIZE = 48 };

/*
 * Fills the filters * channels / groups * kernel_h * kernel_w weights of a valid geometry, of which
 * exactly round(sparsity * their number) are zero; 0 <= sparsity < 1. Batch, image and stride have
 * no influence, and for one seed the nonzeros of a higher sparsity are among those of a lower one.
 * Returns an exit_code and complains.
 */
int pattern_generate(const csrconv_geometry *geometry, double sparsity, uint64_t seed,
                     enum pattern_values values, float *oihw);

/* What made the pattern, such as "dlmc-like:seed=1"; text has PATTERN_NAME_SIZE bytes. */
void pattern_name(uint64_t seed, char *text);

#endif
