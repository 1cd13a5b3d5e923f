/* A file as bytes in memory: first its beginning, by which it is told, then the rest. */
#ifndef CSRCONV_TOOLS_FORMAT_FILE_H
#define CSRCONV_TOOLS_FORMAT_FILE_H

#include <stddef.h>
#include <stdint.h>

struct file {
    int descriptor; /* -1: closed */
    uint8_t *data;  /* from malloc */
    size_t size, capacity;
};

/* Opens and reads the first few kilobytes: what is no weight file may be endless. It may be a pipe.
 */
int file_begin(const char *path, struct file *file);

/* Reads the rest and closes. */
int file_rest(const char *path, struct file *file);

/* Both at once. */
int file_whole(const char *path, struct file *file);

/* Right after any failure, and twice. */
void file_free(struct file *file);

#endif
