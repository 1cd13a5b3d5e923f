/* Zip archives in memory, as far as .npz needs them. */
#ifndef CSRCONV_TOOLS_FORMAT_ARCHIVE_H
#define CSRCONV_TOOLS_FORMAT_ARCHIVE_H

#include "npy_header.h"

#include <stdio.h>
#include <zip.h>

/* An archive that is read; the bytes it lies in stay the caller's. */
struct archive {
    const char *path;
    zip_t *zip;
    uint64_t budget; /* bytes that may still be inflated */
};

/* An array of an archive. */
struct member {
    char where[512]; /* "FILE: MEMBER" for messages */
    struct npy_header header;
    uint8_t *bytes; /* header.total_size; free() it */
};

int archive_open(const char *path, const uint8_t *data, size_t size, struct archive *out);
void archive_close(struct archive *archive);

bool archive_has(const struct archive *archive, const char *name);

/* The names of the members, cut to the size of the text. */
const char *archive_list(const struct archive *archive, char *text, size_t size);

/* Reads a member that is an .npy file; out->bytes is NULL after a failure. */
int archive_read(struct archive *archive, const char *name, struct member *out);

/* A deflated archive with the same bytes for the same members, whatever the time. */
struct new_archive {
    const char *path;
    zip_source_t *memory;
    zip_t *zip;
};

int archive_create(const char *path, struct new_archive *out);

/* Adds a member that is not empty; takes over bytes, which came from malloc, in any case. */
int archive_add(struct new_archive *archive, const char *name, uint8_t *bytes, size_t size);

/* Writes the archive if `code` is EXIT_DONE and frees it in any case; returns what it came to. */
int archive_finish(struct new_archive *archive, int code, FILE *stream);

#endif
