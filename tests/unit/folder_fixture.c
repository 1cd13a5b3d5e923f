#include "folder_fixture.h"

#include "helpers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_make(void **state)
{
    static struct folder folder;
    const char *const place = getenv("TMPDIR");
    snprintf(folder.name, sizeof folder.name, "%s/csrconv-test-XXXXXX", place ? place : "/tmp");
    *state = &folder;
    return mkdtemp(folder.name) ? 0 : -1;
}

const char *folder_path(struct folder *folder, const char *entry)
{
    snprintf(folder->path, sizeof folder->path, "%s/%s", folder->name, entry);
    return folder->path;
}

/* Calls for each entry, with its path. */
static int each_entry(const char *path, void (*call)(const char *entry))
{
    DIR *const entries = opendir(path);
    int count = 0;
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        char name[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (call)
            call(name);
        count++;
    }
    closedir(entries);
    return count;
}

int folder_count(const char *path)
{
    return each_entry(path, NULL);
}

static void remove_all(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        each_entry(path, remove_all);
        rmdir(path);
    } else {
        unlink(path);
    }
}

int folder_remove(void **state)
{
    remove_all(((const struct folder *)*state)->name);
    return 0;
}
