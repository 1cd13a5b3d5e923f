/*
 * A folder of the user's own that keeps things by name, and no more bytes than it may: what was
 * used least recently goes first. Things are whole or not there, also if processes write at once;
 * nothing is locked. What they hold is not the store's affair; nor are files of others in the
 * folder.
 */
#ifndef CSRCONV_TOOLS_STORE_H
#define CSRCONV_TOOLS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_WHY = 160 };

struct store;

/*
 * Opens the folder, which is made if it is missing (not its parents). It must be no link, belong to
 * the user and be of mode 0700; else NULL, and why.
 */
struct store *store_open(const char *folder, int64_t most_bytes, char why[STORE_WHY]);

/* NULL is accepted. */
void store_close(struct store *store);

/* The thing of that name, to be freed, which counts as a use of it. NULL: there is none. */
void *store_read(const struct store *store, const char *name, size_t *size);

/* Keeps it under a name without a slash or a dot; false and why if that did not work. */
bool store_write(const struct store *store, const char *name, const void *bytes, size_t size,
                 char why[STORE_WHY]);

void store_remove(const struct store *store, const char *name);

#endif
