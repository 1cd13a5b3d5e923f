/*
 * Random numbers that are the same on every machine: xoshiro256** seeded by splitmix64 (Blackman
 * and Vigna, public domain algorithms), integers only.
 */
#ifndef CSRCONV_TOOLS_RANDOM_H
#define CSRCONV_TOOLS_RANDOM_H

#include <stdint.h>

struct random_state {
    uint64_t s[4];
};

/* Any seed is good, 0 included. */
static inline void random_seed(struct random_state *state, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15U;
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        state->s[i] = mixed ^ (mixed >> 31);
    }
}

static inline uint64_t random_rotate(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t random_u64(struct random_state *state)
{
    uint64_t *s = state->s;
    const uint64_t result = random_rotate(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = random_rotate(s[3], 45);
    return result;
}

/* Each of 0 .. count - 1 equally likely; count >= 1. */
static inline uint64_t random_below(struct random_state *state, uint64_t count)
{
    const uint64_t unfair = (0 - count) % count; /* 2^64 mod count: that many results are redrawn */
    uint64_t value = random_u64(state);
    while (value < unfair)
        value = random_u64(state);
    return value % count;
}

/* In [0, 1), a multiple of 2^-53. */
static inline double random_unit(struct random_state *state)
{
    return (double)(random_u64(state) >> 11) * 0x1p-53;
}

#endif
