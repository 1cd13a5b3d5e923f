#include "blob.h"

#include "status.h"

#include <string.h>

/* All of it bytes, so that there is no padding and no order but the one written here. */
struct header {
    uint8_t magic[8];
    uint8_t format[4], version[4]; /* numbers are little-endian */
    uint8_t contents[8];           /* bytes that follow the header */
    struct csrconv_blob_identity identity;
    uint8_t digest[CSRCONV_SHA256_BYTES]; /* of everything else */
};

_Static_assert(sizeof(struct header) == 24 + sizeof(struct csrconv_blob_identity) + 32,
               "the header has no padding");

/* As PNG's: neither text nor what becomes of it where line ends are changed. */
static const uint8_t magic[8] = { 0x89, 'c', 's', 'r', 'b', '\r', '\n', 0x1a };

static void put_number(uint8_t *to, int size, uint64_t number)
{
    for (int i = 0; i < size; i++)
        to[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t take_number(const uint8_t *from, int size)
{
    uint64_t number = 0;
    for (int i = size - 1; i >= 0; i--)
        number = number << 8 | from[i];
    return number;
}

static void digest_of(const struct header *header, const uint8_t *contents, size_t size,
                      uint8_t digest[CSRCONV_SHA256_BYTES])
{
    struct csrconv_sha256 hash;
    csrconv_sha256_begin(&hash);
    csrconv_sha256_add(&hash, header, offsetof(struct header, digest));
    csrconv_sha256_add(&hash, contents, size);
    csrconv_sha256_end(&hash, digest);
}

static csrconv_status check_versions(const struct header *header)
{
    const uint64_t format = take_number(header->format, sizeof header->format);
    const uint64_t version = take_number(header->version, sizeof header->version);
    if (format == CSRCONV_BLOB_FORMAT && version == CSRCONV_VERSION)
        return CSRCONV_OK;
    return csrconv_fail(CSRCONV_BAD_BLOB,
                        "the blob is of csrconv %llu, format %llu; this is csrconv %d, format %d",
                        (unsigned long long)version, (unsigned long long)format, CSRCONV_VERSION,
                        CSRCONV_BLOB_FORMAT);
}

/* Whether it is one line of text that ends, with nothing behind its end: sentences quote it. */
static bool is_text(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    for (size_t i = 0; i < size; i++)
        if (i < length ? text[i] < ' ' || text[i] > '~' : text[i] != '\0')
            return false;
    return length > 0 && length < size;
}

static csrconv_status check_whole(const struct header *header, const uint8_t *contents, size_t size)
{
    uint8_t digest[CSRCONV_SHA256_BYTES];
    const uint64_t told = take_number(header->contents, sizeof header->contents);
    if (told != size)
        return csrconv_fail(CSRCONV_BAD_BLOB,
                            "the blob tells of %llu bytes of contents and has %zu",
                            (unsigned long long)told, size);
    digest_of(header, contents, size, digest);
    if (memcmp(digest, header->digest, sizeof digest) != 0)
        return csrconv_fail(CSRCONV_BAD_BLOB,
                            "the blob was changed: its SHA-256 is not the one that it tells");
    if (!is_text(header->identity.algorithm, sizeof header->identity.algorithm) ||
        !is_text(header->identity.target, sizeof header->identity.target))
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob does not tell its algorithm and target");
    return CSRCONV_OK;
}

csrconv_status csrconv_blob_open(const void *bytes, size_t size, struct csrconv_blob *blob)
{
    struct header header;
    const uint8_t *contents;
    csrconv_status status;
    if (size < sizeof header)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob has %zu bytes, its header alone takes %zu",
                            size, sizeof header);
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0)
        return csrconv_fail(CSRCONV_BAD_BLOB, "the blob is none of csrconv's");
    contents = (const uint8_t *)bytes + sizeof header;
    size -= sizeof header;
    if ((status = check_versions(&header)) || (status = check_whole(&header, contents, size)))
        return status;
    blob->identity = header.identity;
    blob->contents = (struct csrconv_contents){ contents, size };
    return CSRCONV_OK;
}

size_t csrconv_blob_size(size_t contents)
{
    return sizeof(struct header) + contents;
}

void *csrconv_blob_contents(void *bytes)
{
    return (uint8_t *)bytes + sizeof(struct header);
}

void csrconv_blob_seal(const struct csrconv_blob_identity *identity, void *bytes, size_t size)
{
    const size_t contents = size - sizeof(struct header);
    struct header header = { .identity = *identity };
    memcpy(header.magic, magic, sizeof magic);
    put_number(header.format, sizeof header.format, CSRCONV_BLOB_FORMAT);
    put_number(header.version, sizeof header.version, CSRCONV_VERSION);
    put_number(header.contents, sizeof header.contents, contents);
    digest_of(&header, csrconv_blob_contents(bytes), contents, header.digest);
    memcpy(bytes, &header, sizeof header);
}
