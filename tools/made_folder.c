#include "made_folder.h"

#include "complain.h"
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part of the name that was there before is kept. A signal handler reads both. */
static atomic_size_t kept;
static char name[PATH_MAX];

/* The length of name up to its last part, or the slashes before it. */
static size_t parent_of(size_t length)
{
    while (length > 0 && name[length - 1] != '/')
        length--;
    while (length > 0 && name[length - 1] == '/')
        length--;
    return length;
}

void made_folder_remove(void)
{
    for (size_t length = strlen(name); length > atomic_load(&kept); length = parent_of(length)) {
        name[length] = '\0';
        if (rmdir(name) != 0)
            return;
    }
}

/* Makes the folder that name is at the moment; 0 or an error number. */
static int make_level(void)
{
    struct stat status;
    const size_t length = strlen(name), parent = parent_of(length);
    if (stat(name, &status) == 0)
        return 0;
    if (parent < atomic_load(&kept))
        atomic_store(&kept, parent); /* before it is made: no signal may fall in between */
    return mkdir(name, 0777) == 0 ? 0 : errno;
}

static int cannot_make(const char *path, int error)
{
    return complain(EXIT_BAD, path, "cannot be made: %s", strerror(error));
}

int made_folder_make(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    int error = 0;
    output_catch_signals();
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length >= sizeof name)
        return cannot_make(path, ENAMETOOLONG);
    atomic_store(&kept, length);
    memcpy(name, path, length); /* the rest is zeros */
    for (size_t i = 1; i <= length; i++) {
        if (i < length && name[i] != '/')
            continue;
        name[i] = '\0';
        error = make_level(); /* that of the folder itself in the end */
        name[i] = i < length ? '/' : '\0';
    }
    if (error && error != EEXIST)
        return cannot_make(path, error);
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return complain(EXIT_BAD, path, "is not a folder");
    return EXIT_DONE;
}
