/*
 * An .npz from its members: mutated archives fail by their checksums, so what the members hold
 * would hardly be reached through them. The input is, for each member, its size in two bytes and
 * its bytes.
 */
#include "harness.h"

#include "archive.h"
#include "bytes.h"
#include "complain.h"

#include <stdlib.h>

static const char *const names[] = { "format.npy", "shape.npy", "indptr.npy", "indices.npy",
                                     "data.npy" };
enum { MEMBERS = sizeof names / sizeof *names };

/* Adds the next member and returns what remains of the input. */
static size_t add_member(struct new_archive *archive, const char *name, const uint8_t *data,
                         size_t size)
{
    const size_t rest = size < 2 ? 0 : size - 2;
    const size_t claimed = size < 2 ? 0 : (size_t)load_bytes(data, 2, false);
    const size_t taken = claimed < rest ? claimed : rest;
    uint8_t *const copy = malloc(taken + 1);
    if (!copy || taken == 0) {
        free(copy);
        return rest;
    }
    memcpy(copy, data + 2, taken);
    if (archive_add(archive, name, copy, taken) != EXIT_DONE)
        abort();
    return rest - taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct new_archive archive;
    char *bytes = NULL;
    size_t length = 0, remaining = size;
    FILE *const stream = open_memstream(&bytes, &length);
    if (!stream || archive_create("MEMBERS", &archive) != EXIT_DONE)
        abort();
    for (int i = 0; i < MEMBERS; i++)
        remaining = add_member(&archive, names[i], data + (size - remaining), remaining);
    uint8_t *const other = calloc(1, 1); /* libzip writes no archive without members */
    if (!other || archive_add(&archive, "other.npy", other, 1) != EXIT_DONE)
        abort();
    if (archive_finish(&archive, EXIT_DONE, stream) != EXIT_DONE || fclose(stream) != 0)
        abort();
    fuzz_format("npz", (const uint8_t *)bytes, length);
    free(bytes);
    return 0;
}
