/* SHA-256, as FIPS 180-4 defines it. */
#ifndef CSRCONV_SHA256_H
#define CSRCONV_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CSRCONV_SHA256_BYTES = 32, CSRCONV_SHA256_BLOCK = 64 };

struct csrconv_sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    uint8_t block[CSRCONV_SHA256_BLOCK];
};

void csrconv_sha256_begin(struct csrconv_sha256 *hash);
void csrconv_sha256_add(struct csrconv_sha256 *hash, const void *bytes, size_t size);
void csrconv_sha256_end(struct csrconv_sha256 *hash, uint8_t digest[CSRCONV_SHA256_BYTES]);

#endif
