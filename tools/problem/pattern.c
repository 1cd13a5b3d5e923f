#include "problem/pattern.h"

#include "complain.h"
#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Made as real patterns come about: weights of uneven scale, of which the smallest are pruned. The
 * magnitude of a weight is exponential, times a factor of its filter, one of its input channel, and
 * for kernels larger than 1x1 one of its R x S kernel. That gives the spread of the nonzeros per
 * filter at every sparsity from one number, since it grows with the threshold. Spreads in the unit
 * ONE, chosen so that tools/scripts/fit_patterns.py's measure of a generated layer is the median of
 * the 520 magnitude-pruned ResNet-50 matrices that it reads; docs/patterns.md compares.
 *
 * All in integers: products of floats could be contracted differently by another compiler.
 */
enum {
    FACTOR_BITS = 12,
    ONE = 1 << FACTOR_BITS,
    MAGNITUDE_BITS = 18,
    MAGNITUDE_MOST = 32 /* e^-32 of the weights would be larger */
};
_Static_assert(5 + MAGNITUDE_BITS + 3 * FACTOR_BITS + 1 + 1 + 3 <= 64,
               "a magnitude and factors of less than 2, 2 and 8 fit into a product of 64 bits");

struct spreads {
    int filter, channel; /* half the width of a triangular distribution around ONE */
    bool kernel;         /* a factor of 3/8 + 5/8 of an exponential one for each kernel */
};

static const struct spreads pointwise = { 1500, 1600, false };
static const struct spreads spatial = { 1350, 2000, true };

struct layer {
    int64_t filters, channels_per_group, area, filters_per_group, channels;
    int64_t size; /* weights */
};

/* Whether the sizes fit. */
static bool layer_init(struct layer *layer, const csrconv_geometry *g)
{
    int64_t bytes;
    layer->filters = g->filters;
    layer->channels = g->channels;
    layer->channels_per_group = g->channels / g->groups;
    layer->filters_per_group = g->filters / g->groups;
    return !__builtin_mul_overflow(g->kernel_h, g->kernel_w, &layer->area) &&
           !__builtin_mul_overflow(layer->area, layer->channels_per_group, &layer->size) &&
           !__builtin_mul_overflow(layer->size, layer->filters, &layer->size) &&
           !__builtin_mul_overflow(layer->size, (int64_t)sizeof(uint64_t), &bytes);
}

/*
 * Exponential with mean 1 by von Neumann's method, which only compares uniform numbers: a run of
 * them descends for an odd number of steps with probability e^-first.
 */
static uint64_t exponential(struct random_state *random)
{
    for (uint64_t whole = 0; whole < MAGNITUDE_MOST; whole++) {
        const uint64_t first = random_u64(random);
        uint64_t last = first, next = random_u64(random);
        bool odd = true;
        for (; next < last; next = random_u64(random)) {
            last = next;
            odd = !odd;
        }
        if (odd)
            return (whole << MAGNITUDE_BITS) + (first >> (64 - MAGNITUDE_BITS));
    }
    return (uint64_t)MAGNITUDE_MOST << MAGNITUDE_BITS;
}

/* Around ONE by up to `half`, small deviations more likely. */
static uint64_t factor(struct random_state *random, int half)
{
    const uint64_t width = (uint64_t)half + 1;
    return ONE + random_below(random, width) - random_below(random, width);
}

/* At most 6 * ONE. */
static uint64_t kernel_factor(struct random_state *random)
{
    const uint64_t most = (uint64_t)9 << MAGNITUDE_BITS;
    const uint64_t drawn = exponential(random);
    return 3 * ONE / 8 + (drawn < most ? drawn : most) * 5 / 8 * ONE / (1 << MAGNITUDE_BITS);
}

/* Draws the factors of all channels into channel_factors, and a magnitude for each weight. */
static void draw_magnitudes(const struct layer *layer, struct random_state *random,
                            uint64_t *channel_factors, uint64_t *magnitudes)
{
    const struct spreads spreads = layer->area > 1 ? spatial : pointwise;
    for (int64_t c = 0; c < layer->channels; c++)
        channel_factors[c] = factor(random, spreads.channel);
    for (int64_t m = 0; m < layer->filters; m++) {
        const uint64_t filter = factor(random, spreads.filter);
        const uint64_t *of_group =
            channel_factors + m / layer->filters_per_group * layer->channels_per_group;
        for (int64_t c = 0; c < layer->channels_per_group; c++) {
            const uint64_t kernel = spreads.kernel ? kernel_factor(random) : ONE;
            for (int64_t i = 0; i < layer->area; i++)
                *magnitudes++ = exponential(random) * filter * of_group[c] * kernel;
        }
    }
}

/* The magnitude that has `rank` smaller ones before it in order, 0 <= rank < size: radix selection.
 */
static uint64_t select_magnitude(const uint64_t *magnitudes, int64_t size, int64_t *rank)
{
    uint64_t prefix = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        int64_t counts[256] = { 0 };
        const uint64_t above = shift == 56 ? 0 : ~(uint64_t)0 << (shift + 8);
        for (int64_t i = 0; i < size; i++)
            if ((magnitudes[i] & above) == prefix)
                counts[magnitudes[i] >> shift & 255]++;
        uint64_t digit = 0;
        for (; *rank >= counts[digit]; digit++)
            *rank -= counts[digit];
        prefix |= digit << shift;
    }
    return prefix;
}

static float draw_value(struct random_state *random, enum pattern_values values)
{
    const uint64_t bits = random_u64(random);
    const float sign = bits >> 63 ? -1.0F : 1.0F;
    if (values == PATTERN_INTEGERS)
        return sign * (float)(1 + (bits & 1));
    return sign * (float)(1 + (bits & 0x7fffff)) * 0x1p-23F;
}

/* Zeroes the `zeros` smallest, of equal ones the first, and draws a value for each other. */
static void fill(const struct layer *layer, const uint64_t *magnitudes, int64_t zeros,
                 struct random_state *random, enum pattern_values values, float *oihw)
{
    int64_t ties = zeros;
    const uint64_t threshold =
        zeros < layer->size ? select_magnitude(magnitudes, layer->size, &ties) : UINT64_MAX;
    for (int64_t i = 0; i < layer->size; i++) {
        const float value = draw_value(random, values);
        const bool zero = magnitudes[i] < threshold || (magnitudes[i] == threshold && ties-- > 0);
        oihw[i] = zero ? 0.0F : value;
    }
}

int pattern_generate(const csrconv_geometry *geometry, double sparsity, uint64_t seed,
                     enum pattern_values values, float *oihw)
{
    struct layer layer;
    if (!(sparsity >= 0 && sparsity < 1))
        return complain(EXIT_BAD, "pattern", "the sparsity %g is not in [0, 1)", sparsity);
    if (!layer_init(&layer, geometry))
        return complain(EXIT_BAD, "pattern", "the number of weights overflows 64 bits");
    uint64_t *magnitudes = malloc((size_t)layer.size * sizeof *magnitudes);
    uint64_t *channel_factors = malloc((size_t)layer.channels * sizeof *channel_factors);
    struct random_state random;
    random_seed(&random, seed);
    if (magnitudes && channel_factors) {
        draw_magnitudes(&layer, &random, channel_factors, magnitudes);
        fill(&layer, magnitudes, llround(sparsity * (double)layer.size), &random, values, oihw);
    }
    const bool made = magnitudes && channel_factors;
    free(magnitudes);
    free(channel_factors);
    return made ? EXIT_DONE : complain(EXIT_WRONG, "pattern", "out of memory");
}

void pattern_name(uint64_t seed, char *text)
{
    snprintf(text, PATTERN_NAME_SIZE, "dlmc-like:seed=%" PRIu64, seed);
}
