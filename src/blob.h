/*
 * The envelope of a compiled plan that is kept: what the code was made from and for, the code, and
 * a digest of all of it. Nothing of it is used before it was checked; but who makes the code can
 * make the digest too, so a blob is to be trusted as a program is.
 */
#ifndef CSRCONV_BLOB_H
#define CSRCONV_BLOB_H

#include "algorithm.h"
#include "sha256.h"

/*
 * To be raised when the envelope, the contents of an algorithm's, or the code that it makes
 * changes: blobs of another number are refused, as are those of another version of csrconv.
 */
enum { CSRCONV_BLOB_FORMAT = 2 };

enum { CSRCONV_NAME_BYTES = 32 };

/* What must agree between a blob and a plan. Texts are filled up with zeros, the last of them too.
 */
struct csrconv_blob_identity {
    char algorithm[CSRCONV_NAME_BYTES];
    char target[CSRCONV_TARGET_BYTES];
    uint8_t weights[CSRCONV_SHA256_BYTES];
    uint8_t geometry[CSRCONV_SHA256_BYTES];
    uint8_t options[CSRCONV_SHA256_BYTES];
};

/* The three digests of it. */
void csrconv_blob_digest(const struct csrconv_problem *problem,
                         struct csrconv_blob_identity *identity);

/* Of a plan of that algorithm, which compiles. CSRCONV_NOT_SUPPORTED if it cannot here. */
csrconv_status csrconv_blob_identify(const struct csrconv_problem *problem,
                                     const struct csrconv_algorithm *algorithm,
                                     struct csrconv_blob_identity *identity);

/* CSRCONV_BAD_BLOB if the two differ, with what differs in the sentence. */
csrconv_status csrconv_blob_check_identity(const struct csrconv_blob_identity *got,
                                           const struct csrconv_blob_identity *want);

/* A blob, opened; contents point into it. */
struct csrconv_blob {
    struct csrconv_blob_identity identity;
    struct csrconv_contents contents;
};

/* CSRCONV_BAD_BLOB if it is none, of another version, not whole, or changed. */
csrconv_status csrconv_blob_open(const void *bytes, size_t size, struct csrconv_blob *blob);

/* Bytes of a blob with so many of contents. */
size_t csrconv_blob_size(size_t contents);

/* Writes the envelope around the contents, which stand already where csrconv_blob_contents says. */
void csrconv_blob_seal(const struct csrconv_blob_identity *identity, void *bytes, size_t size);
void *csrconv_blob_contents(void *bytes);

#endif
