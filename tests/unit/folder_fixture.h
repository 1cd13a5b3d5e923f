/* A folder of a test's own, that goes with what is in it. */
#ifndef CSRCONV_UNIT_FOLDER_FIXTURE_H
#define CSRCONV_UNIT_FOLDER_FIXTURE_H

#include <limits.h>

struct folder {
    char name[PATH_MAX / 2];
    char path[PATH_MAX]; /* of the last folder_path */
};

/* For cmocka: *state becomes a struct folder. */
int folder_make(void **state);
int folder_remove(void **state);
#define with_folder(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

/* The path of an entry, until the next call. */
const char *folder_path(struct folder *folder, const char *entry);

/* How many entries a folder has. */
int folder_count(const char *path);

#endif
