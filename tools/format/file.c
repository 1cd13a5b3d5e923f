#include "file.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int reserve(const char *path, struct file *file, size_t capacity)
{
    uint8_t *const data = realloc(file->data, capacity);
    if (!data)
        return complain(EXIT_WRONG, path, "out of memory for its first %zu bytes", capacity);
    file->data = data;
    file->capacity = capacity;
    return EXIT_DONE;
}

/* Reads until the room is full, or to the end of the file. */
static int fill(const char *path, struct file *file)
{
    while (file->size < file->capacity) {
        const ssize_t got =
            read(file->descriptor, file->data + file->size, file->capacity - file->size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return complain(EXIT_BAD, path, "%s", strerror(errno));
        file->size += got > 0 ? (size_t)got : 0;
    }
    return EXIT_DONE;
}

static int fill_rest(const char *path, struct file *file)
{
    struct stat status;
    size_t expected = 0;
    if (fstat(file->descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        expected = (size_t)status.st_size + 1; /* one more shows that the end was reached */
    int code = EXIT_DONE;
    while (code == EXIT_DONE && file->size == file->capacity) {
        code = reserve(path, file, file->capacity < expected ? expected : 2 * file->capacity);
        if (code == EXIT_DONE)
            code = fill(path, file);
    }
    return code;
}

int file_begin(const char *path, struct file *file)
{
    enum { FIRST = 4096 };
    *file = (struct file){ .descriptor = open(path, O_RDONLY | O_CLOEXEC) };
    if (file->descriptor < 0)
        return complain(EXIT_BAD, path, "%s", strerror(errno));
    const int code = reserve(path, file, FIRST);
    return code == EXIT_DONE ? fill(path, file) : code;
}

int file_rest(const char *path, struct file *file)
{
    const int code = fill_rest(path, file);
    close(file->descriptor);
    file->descriptor = -1;
    return code;
}

int file_whole(const char *path, struct file *file)
{
    const int code = file_begin(path, file);
    return code == EXIT_DONE ? file_rest(path, file) : code;
}

void file_free(struct file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->data);
    *file = (struct file){ .descriptor = -1 };
}
