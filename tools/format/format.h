/*
 * File formats: each is one constant in a file of its own, format_NAME in NAME.c, and one name in
 * meson.build, which writes the table.
 */
#ifndef CSRCONV_TOOLS_FORMAT_FORMAT_H
#define CSRCONV_TOOLS_FORMAT_FORMAT_H

#include "file.h"
#include "tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct format {
    const char *name;
    const char *extension;   /* of the files that it writes, such as ".npy" */
    enum tensor_kind stores; /* what write wants to get */

    /* Whether the file can be of this format, by the first bytes; a file has one such format. */
    bool (*probe)(const uint8_t *data, size_t size);

    /*
     * Reads a whole file in memory; path is for messages only. *out is clear before, and after a
     * failure. Memory taken is within a small factor of `size`, whatever the file claims.
     */
    int (*read)(const char *path, const uint8_t *data, size_t size, struct tensor *out);

    /* NULL if the format is only read. Errors of the stream are for its owner to find. */
    int (*write)(const char *path, const struct tensor *tensor, FILE *stream);
};

/* Ended by NULL. */
extern const struct format *const formats[];

/* NULL if there is none of that name. */
const struct format *format_named(const char *name);

/*
 * Reads a weight or activation file, told by its content; the path may be a pipe. *out is the
 * caller's to tensor_free, and clear after a failure. Returns an exit_code and complains.
 */
int format_read(const char *path, struct tensor *out);

/* The same for a file that was begun, whose owner frees it. */
int format_read_begun(const char *path, struct file *file, struct tensor *out);

/* The same for a file that is in memory. */
int format_read_memory(const char *path, const uint8_t *data, size_t size, struct tensor *out);

/* The format that an output file of that name gets, by its extension. */
int format_for_output(const char *path, const struct format **out);

/*
 * Writes in a format that has a write function. An array becomes a matrix of one row per first
 * dimension, and a matrix an array, where the format stores only the other. Errors of the stream
 * are found by output_commit.
 */
int format_write(const struct format *format, const char *path, const struct tensor *tensor,
                 FILE *stream);

#endif
