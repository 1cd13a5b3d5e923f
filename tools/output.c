#include "output.h"

#include "complain.h"
#include "made_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A fixed table, since a signal handler reads it, maybe on another thread. */
enum { MOST_TEMPORARIES = 16 };

struct temporary {
    atomic_bool taken;
    atomic_bool exists; /* name is whole, and the file is there or about to be */
    char name[PATH_MAX];
};

static struct temporary temporaries[MOST_TEMPORARIES];

struct output {
    FILE *stream;
    char *path;                  /* as the caller wrote it */
    char *target;                /* behind any symbolic links */
    struct temporary *temporary; /* NULL: the target is written directly */
};

static void die_tidily(int signal_number)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (atomic_load(&temporaries[i].exists))
            unlink(temporaries[i].name);
    made_folder_remove();
    raise(signal_number); /* SA_RESETHAND: now it ends the process, as it would have */
}

/* A signal that is ignored (nohup) or has a handler of somebody else's is left alone. */
void output_catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    struct sigaction action = { .sa_handler = die_tidily, .sa_flags = (int)SA_RESETHAND };
    struct sigaction current;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &current) == 0 && current.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a full RLIMIT_FSIZE is an error of write, like a full disk */
}

static struct temporary *take_temporary(void)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (!atomic_exchange(&temporaries[i].taken, true))
            return &temporaries[i];
    return NULL;
}

static void release_temporary(struct temporary *temporary)
{
    if (temporary) {
        atomic_store(&temporary->exists, false);
        atomic_store(&temporary->taken, false);
    }
}

/* The file that `link` names, taken from the directory of the link unless absolute. */
static bool read_link(const char *link, char target[PATH_MAX])
{
    char content[PATH_MAX];
    const ssize_t length = readlink(link, content, sizeof content - 1);
    if (length < 0)
        return false;
    content[length] = '\0';
    const char *const slash = strrchr(link, '/');
    const int directory = content[0] == '/' || !slash ? 0 : (int)(slash - link) + 1;
    char joined[2 * PATH_MAX];
    if (snprintf(joined, sizeof joined, "%.*s%s", directory, link, content) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(target, joined, strlen(joined) + 1);
    return true;
}

/* Follows links by hand: a link whose target does not exist yet is followed too. */
static bool follow_links(const char *path, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    struct stat status;
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(target, path, strlen(path) + 1);
    for (int links = 0; lstat(target, &status) == 0 && S_ISLNK(status.st_mode); links++) {
        if (links == MOST_LINKS) {
            errno = ELOOP;
            return false;
        }
        char link[PATH_MAX];
        memcpy(link, target, sizeof link);
        if (!read_link(link, target))
            return false;
    }
    return true;
}

/* Names the temporary file: short, since the target's own name may be as long as names can be. */
static bool name_temporary(const char *target, struct temporary *temporary)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *const slash = strrchr(target, '/');
    const int directory = slash ? (int)(slash - target) + 1 : 0;
    const int length =
        snprintf(temporary->name, sizeof temporary->name, "%.*s.csrconv-%ld-%09ld.tmp", directory,
                 target, (long)getpid(), now.tv_nsec);
    if (length < (int)sizeof temporary->name)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

/* The descriptor of a new file beside the target, or -1. */
static int create_temporary(const char *target, mode_t mode, struct temporary *temporary)
{
    enum { TRIES = 100 };
    int descriptor = -1;
    for (int i = 0; i < TRIES && descriptor < 0; i++) {
        if (!name_temporary(target, temporary))
            return -1;
        atomic_store(&temporary->exists, true); /* before it does: no signal may fall in between */
        descriptor = open(temporary->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        const int error = errno;
        if (descriptor < 0)
            atomic_store(&temporary->exists, false);
        if (descriptor < 0 && error != EEXIST)
            break;
    }
    return descriptor;
}

static int cannot_open(const char *path)
{
    return complain(EXIT_BAD, path, "cannot be written: %s", strerror(errno));
}

/* Takes over the descriptor. */
static int open_stream(struct output *output, int descriptor)
{
    output->stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (output->stream)
        return EXIT_DONE;
    const int code = cannot_open(output->path);
    if (descriptor >= 0)
        close(descriptor);
    return code;
}

static int open_directly(struct output *output)
{
    return open_stream(output, open(output->path, O_WRONLY | O_CLOEXEC));
}

/* The new file gets the mode of the one that it will replace, which must be writable. */
static int open_beside(struct output *output)
{
    struct stat old;
    char target[PATH_MAX];
    if (output->path[0] == '\0')
        return complain(EXIT_BAD, "an output", "has an empty name");
    if (!follow_links(output->path, target) || !(output->target = strdup(target)))
        return cannot_open(output->path);
    const bool exists = stat(target, &old) == 0;
    if (exists ? access(target, W_OK) != 0 : errno != ENOENT) /* such as a name that is too long */
        return cannot_open(output->path);
    output->temporary = take_temporary();
    if (!output->temporary)
        return complain(EXIT_WRONG, output->path, "more than %d files are open for writing",
                        MOST_TEMPORARIES);
    const int descriptor = create_temporary(target, exists ? 0600 : 0666, output->temporary);
    if (exists && descriptor >= 0 && fchmod(descriptor, old.st_mode & 0777) != 0) {
        const int code = cannot_open(output->path);
        close(descriptor);
        return code;
    }
    return open_stream(output, descriptor);
}

int output_open(const char *path, struct output **out)
{
    struct stat status;
    *out = NULL;
    output_catch_signals();
    struct output *output = calloc(1, sizeof *output);
    if (!output || !(output->path = strdup(path))) {
        free(output);
        return complain(EXIT_WRONG, path, "out of memory");
    }
    int code = EXIT_DONE;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) /* maybe a file, to append to */
        output->stream = stdout;
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        code = open_directly(output);
    else
        code = open_beside(output);
    if (code == EXIT_DONE)
        *out = output;
    else
        output_abandon(&output);
    return code;
}

FILE *output_stream(struct output *output)
{
    return output->stream;
}

/*
 * The error number of a stream that failed, or 0. stdio does not keep it, so an earlier error is
 * provoked once more; only a temporary file may get the byte that this takes.
 */
static int flush_error(struct output *output)
{
    const bool failed = ferror(output->stream) != 0;
    errno = 0;
    if (fflush(output->stream) != 0)
        return errno ? errno : EIO;
    if (failed && output->temporary) {
        const ssize_t written = write(fileno(output->stream), "", 1);
        return written < 0 ? errno : EIO;
    }
    return failed ? EIO : 0;
}

static int close_stream(struct output *output)
{
    FILE *const stream = output->stream;
    output->stream = NULL;
    if (!stream || stream == stdout)
        return 0;
    errno = 0;
    return fclose(stream) == 0 ? 0 : errno ? errno : EIO;
}

int output_commit(struct output **output)
{
    struct output *const done = *output;
    int error = flush_error(done);
    const int close_error = close_stream(done);
    if (error == 0)
        error = close_error;
    if (error == 0 && done->temporary) {
        if (rename(done->temporary->name, done->target) == 0) {
            release_temporary(done->temporary);
            done->temporary = NULL;
        } else {
            error = errno;
        }
    }
    int code = EXIT_DONE;
    if (error != 0)
        code = complain(EXIT_WRONG, done->path, "could not be written: %s", strerror(error));
    output_abandon(output);
    return code;
}

void output_abandon(struct output **output)
{
    struct output *const gone = *output;
    if (!gone)
        return;
    close_stream(gone);
    if (gone->temporary && atomic_load(&gone->temporary->exists))
        unlink(gone->temporary->name);
    release_temporary(gone->temporary);
    free(gone->target);
    free(gone->path);
    free(gone);
    *output = NULL;
}
