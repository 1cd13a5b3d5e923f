#include "sha256.h"

#include <string.h>

enum { LENGTH_BYTES = 8 }; /* of the message's length, at its end */

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static uint32_t load_big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_big(uint8_t *at, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void extend(const uint8_t *block, uint32_t words[64])
{
    for (int i = 0; i < 16; i++)
        words[i] = load_big(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* The eight words of the state in variables: as an array, moved along, they would go through
 * memory. */
static void mix(uint32_t state[8], const uint32_t words[64])
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        const uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                               ((e & f) ^ (~e & g)) + constants[i] + words[i];
        const uint32_t second =
            (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void take_block(struct csrconv_sha256 *hash, const uint8_t *block)
{
    uint32_t words[64];
    extend(block, words);
    mix(hash->state, words);
}

void csrconv_sha256_begin(struct csrconv_sha256 *hash)
{
    /* Likewise of the square roots of the first 8 primes. */
    *hash = (struct csrconv_sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void csrconv_sha256_add(struct csrconv_sha256 *hash, const void *bytes, size_t size)
{
    const size_t block = CSRCONV_SHA256_BLOCK;
    const uint8_t *at = bytes;
    size_t held = (size_t)(hash->bytes % block);
    hash->bytes += size;
    if (held && size >= block - held) {
        memcpy(hash->block + held, at, block - held);
        take_block(hash, hash->block);
        at += block - held;
        size -= block - held;
        held = 0;
    }
    for (; size >= block; at += block, size -= block)
        take_block(hash, at);
    if (size)
        memcpy(hash->block + held, at, size);
}

void csrconv_sha256_end(struct csrconv_sha256 *hash, uint8_t digest[CSRCONV_SHA256_BYTES])
{
    const uint64_t bits = hash->bytes * 8;
    const size_t held = (size_t)(hash->bytes % CSRCONV_SHA256_BLOCK);
    const size_t room = CSRCONV_SHA256_BLOCK - LENGTH_BYTES;
    uint8_t padding[CSRCONV_SHA256_BLOCK + LENGTH_BYTES] = { 0x80 };
    const size_t zeros = held < room ? room - held : room + CSRCONV_SHA256_BLOCK - held;
    store_big(padding + zeros, (uint32_t)(bits >> 32));
    store_big(padding + zeros + 4, (uint32_t)bits);
    csrconv_sha256_add(hash, padding, zeros + LENGTH_BYTES);
    for (int i = 0; i < 8; i++)
        store_big(digest + 4 * i, hash->state[i]);
}
