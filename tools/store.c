#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * How the names of the store's files end, temporary ones too: others that are in the folder, since
 * the user named one that has more uses, are neither read nor removed.
 */
#define ENDING ".csrconv"

enum { FILE_NAME = NAME_MAX + sizeof ENDING };

/* Every file is reached through the folder that was checked, whatever becomes of its name. */
struct store {
    int folder;
    int64_t most_bytes;
};

static bool fail(char why[STORE_WHY], const char *what)
{
    snprintf(why, STORE_WHY, "%s: %s", what, strerror(errno));
    return false;
}

/* The name of the file of a thing; if that is too long, so is this. */
static void name_file(const char *name, char file_name[FILE_NAME])
{
    snprintf(file_name, FILE_NAME, "%.*s" ENDING, NAME_MAX, name);
}

/* Whether it belongs to the user, and nobody else may look into it. */
static bool is_private(int folder, char why[STORE_WHY])
{
    struct stat status;
    if (fstat(folder, &status) != 0)
        return fail(why, "it cannot be looked at");
    if (status.st_uid != geteuid())
        snprintf(why, STORE_WHY, "it belongs to user %ld, not to %ld", (long)status.st_uid,
                 (long)geteuid());
    else if ((status.st_mode & 0777) != 0700)
        snprintf(why, STORE_WHY, "its mode is %03o, must be 700",
                 (unsigned)(status.st_mode & 0777));
    else
        return true;
    return false;
}

struct store *store_open(const char *folder, int64_t most_bytes, char why[STORE_WHY])
{
    struct store *store = malloc(sizeof *store);
    if (!store) {
        fail(why, "it has no room");
        return NULL;
    }
    store->most_bytes = most_bytes;
    store->folder = -1;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        fail(why, "it cannot be made");
    else if ((store->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        fail(why, "it cannot be opened");
    else if (is_private(store->folder, why))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->folder >= 0)
        close(store->folder);
    free(store);
}

/* By the exact clock: the kernel's own stamps are the same for milliseconds. */
static void stamp_use(int file)
{
    struct timespec now[2];
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    futimens(file, now);
}

/* -------------------------------------------------------------------------------------- reading */

static bool read_whole(int file, char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t more = read(file, bytes + done, size - done);
        if (more == 0 || (more < 0 && errno != EINTR))
            return false;
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* A regular file of the user's, no larger than anything that was written. */
static bool is_ours(const struct store *store, int file, struct stat *status)
{
    return fstat(file, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           status->st_size > 0 && status->st_size <= store->most_bytes;
}

static void *read_file(const struct store *store, int file, size_t *size)
{
    struct stat status;
    void *bytes;
    if (!is_ours(store, file, &status))
        return NULL;
    *size = (size_t)status.st_size;
    bytes = malloc(*size);
    if (bytes && read_whole(file, bytes, *size)) {
        stamp_use(file);
        return bytes;
    }
    free(bytes);
    return NULL;
}

void *store_read(const struct store *store, const char *name, size_t *size)
{
    /* Nothing waits for the other end of a pipe that somebody put there. */
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    char file_name[FILE_NAME];
    void *bytes;
    int file;
    name_file(name, file_name);
    file = openat(store->folder, file_name, flags);
    if (file < 0)
        return NULL;
    bytes = read_file(store, file, size);
    close(file);
    return bytes;
}

void store_remove(const struct store *store, const char *name)
{
    char file_name[FILE_NAME];
    name_file(name, file_name);
    unlinkat(store->folder, file_name, 0);
}

/* ------------------------------------------------------------------------------------- eviction */

struct thing {
    char name[NAME_MAX + 1];
    int64_t bytes;
    struct timespec used;
};

struct things {
    struct thing *items;
    size_t count, room;
    int64_t bytes;
};

static bool is_named_by_us(const char *file_name)
{
    const size_t length = strlen(file_name), ending = strlen(ENDING);
    return length > ending && strcmp(file_name + length - ending, ENDING) == 0;
}

/* One more, or NULL. */
static struct thing *append_thing(struct things *things)
{
    if (things->count == things->room) {
        const size_t room = things->room ? 2 * things->room : 64;
        struct thing *const more = realloc(things->items, room * sizeof *more);
        if (!more)
            return NULL;
        things->items = more;
        things->room = room;
    }
    return &things->items[things->count++];
}

/* Temporary files are things too: a process that died left them. */
static bool list_thing(const struct store *store, const char *name, struct things *things)
{
    struct stat status;
    struct thing *thing;
    if (!is_named_by_us(name) || fstatat(store->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return true;
    thing = append_thing(things);
    if (!thing)
        return false;
    snprintf(thing->name, sizeof thing->name, "%s", name);
    thing->bytes = (int64_t)status.st_size;
    thing->used = status.st_mtim;
    things->bytes += thing->bytes;
    return true;
}

static void list_things(const struct store *store, struct things *things)
{
    const int folder = openat(store->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const entries = folder < 0 ? NULL : fdopendir(folder);
    struct dirent *entry;
    if (!entries) {
        if (folder >= 0)
            close(folder);
        return;
    }
    while ((entry = readdir(entries)))
        if (!list_thing(store, entry->d_name, things))
            break;
    closedir(entries);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct thing *)a)->used;
    const struct timespec *y = &((const struct thing *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* What was written last stays, whatever the file system's clock says of the others. */
static void evict(const struct store *store, const char *written)
{
    struct things things = { 0 };
    list_things(store, &things);
    if (things.count > 1)
        qsort(things.items, things.count, sizeof *things.items, by_use);
    for (size_t i = 0; i < things.count && things.bytes > store->most_bytes; i++) {
        if (strcmp(things.items[i].name, written) == 0)
            continue;
        unlinkat(store->folder, things.items[i].name, 0);
        things.bytes -= things.items[i].bytes;
    }
    free(things.items);
}

/* -------------------------------------------------------------------------------------- writing */

static bool write_whole(int file, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t more = write(file, bytes + done, size - done);
        if (more < 0 && errno != EINTR)
            return false;
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* A new file under a name that no other process takes, or -1. */
static int create_temporary(const struct store *store, char name[64])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, 64, ".%ld-%lld-%09ld" ENDING, (long)getpid(), (long long)now.tv_sec,
             now.tv_nsec);
    return openat(store->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool store_write(const struct store *store, const char *name, const void *bytes, size_t size,
                 char why[STORE_WHY])
{
    char temporary[64], file_name[FILE_NAME];
    int file;
    bool is_written;
    if (size > (uint64_t)store->most_bytes) {
        snprintf(why, STORE_WHY, "%zu bytes are more than it may hold, %lld", size,
                 (long long)store->most_bytes);
        return false;
    }
    file = create_temporary(store, temporary);
    if (file < 0)
        return fail(why, "it cannot be written to");
    is_written = write_whole(file, bytes, size) || fail(why, "it cannot be written to");
    stamp_use(file);
    if (close(file) != 0 && is_written)
        is_written = fail(why, "it cannot be written to");
    name_file(name, file_name);
    if (is_written && renameat(store->folder, temporary, store->folder, file_name) != 0)
        is_written = fail(why, "a file of it cannot be renamed");
    if (!is_written)
        unlinkat(store->folder, temporary, 0);
    evict(store, file_name);
    return is_written;
}
