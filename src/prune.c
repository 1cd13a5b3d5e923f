/*
 * Pruning in place, without memory of its own: magnitudes of floats order like their bit patterns
 * without the sign, so the threshold is found by radix selection over four histograms of a byte.
 */
#include "csrconv.h"
#include "status.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static uint32_t magnitude_bits(float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits & 0x7fffffffU;
}

static csrconv_status check_arguments(const float *weights, int64_t count, double sparsity)
{
    if (count < 0)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "count is %lld", (long long)count);
    if (!weights && count)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "weights is NULL");
    if (!(sparsity >= 0.0 && sparsity < 1.0))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "sparsity is %g, must be in [0, 1)", sparsity);
    return CSRCONV_OK;
}

static int64_t wanted_zeros(int64_t count, double sparsity)
{
    const int64_t zeros = (int64_t)llround(sparsity * (double)count);
    return zeros < count ? zeros : count;
}

/*
 * Finds the magnitude of the rank-th smallest weight (from 0); *equal becomes how many of those
 * that have just this magnitude are among the rank smallest.
 */
static uint32_t select_magnitude(const float *weights, int64_t count, int64_t rank, int64_t *equal)
{
    uint32_t prefix = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int64_t histogram[256] = { 0 };
        uint32_t digit = 0;
        for (int64_t i = 0; i < count; i++) {
            const uint32_t bits = magnitude_bits(weights[i]);
            if ((bits & mask) == prefix)
                histogram[bits >> shift & 255]++;
        }
        while (rank >= histogram[digit])
            rank -= histogram[digit++];
        prefix |= digit << shift;
        mask |= 255U << shift;
    }
    *equal = rank;
    return prefix;
}

csrconv_status csrconv_prune_magnitude(float *weights, int64_t count, double sparsity)
{
    const csrconv_status status = check_arguments(weights, count, sparsity);
    const int64_t zeros = status ? 0 : wanted_zeros(count, sparsity);
    int64_t equal;
    uint32_t threshold;
    if (status || zeros == 0)
        return status;
    if (zeros == count) {
        memset(weights, 0, (size_t)count * sizeof *weights);
        return CSRCONV_OK;
    }
    threshold = select_magnitude(weights, count, zeros, &equal);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = magnitude_bits(weights[i]);
        if (bits < threshold || (bits == threshold && equal-- > 0))
            weights[i] = 0.0F;
    }
    return CSRCONV_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014): enough for choosing, the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

/* Uniform in [0, below), below > 0: rejects the incomplete last interval. */
static uint64_t random_below(uint64_t *state, uint64_t below)
{
    const uint64_t incomplete = UINT64_MAX - UINT64_MAX % below;
    uint64_t value = next_random(state);
    while (value >= incomplete)
        value = next_random(state);
    return value % below;
}

csrconv_status csrconv_prune_random(float *weights, int64_t count, double sparsity, uint64_t seed)
{
    const csrconv_status status = check_arguments(weights, count, sparsity);
    int64_t left = 0, prune;
    if (status)
        return status;
    for (int64_t i = 0; i < count; i++)
        left += magnitude_bits(weights[i]) != 0;
    prune = wanted_zeros(count, sparsity) - (count - left);
    /* Selection sampling: each of those left goes with probability prune / left. */
    for (int64_t i = 0; i < count && prune > 0; i++) {
        if (magnitude_bits(weights[i]) == 0)
            continue;
        if (random_below(&seed, (uint64_t)left--) < (uint64_t)prune) {
            weights[i] = 0.0F;
            prune--;
        }
    }
    return CSRCONV_OK;
}
