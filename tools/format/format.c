#include "format.h"

#include "complain.h"

#include <string.h>
#include <strings.h>

/* The formats with that property, for a message: "npy, npz". */
static const char *format_list(bool writable, char list[64])
{
    list[0] = '\0';
    for (const struct format *const *f = formats; *f; f++) {
        const size_t used = strlen(list);
        if (!writable)
            snprintf(list + used, 64 - used, "%s%s", used ? ", " : "", (*f)->name);
        else if ((*f)->write)
            snprintf(list + used, 64 - used, "%s%s", used ? ", " : "", (*f)->extension);
    }
    return list;
}

/* The format of the content, or NULL after a complaint. */
static const struct format *recognise(const char *path, const uint8_t *data, size_t size)
{
    char list[64];
    for (const struct format *const *f = formats; *f; f++)
        if ((*f)->probe(data, size))
            return *f;
    if (size == 0)
        complain(EXIT_BAD, path, "the file is empty");
    else
        complain(EXIT_BAD, path, "its content is none of %s", format_list(false, list));
    return NULL;
}

int format_read_begun(const char *path, struct file *file, struct tensor *out)
{
    *out = (struct tensor){ 0 };
    const struct format *const format = recognise(path, file->data, file->size);
    if (!format)
        return EXIT_BAD;
    const int code = file_rest(path, file);
    return code == EXIT_DONE ? format->read(path, file->data, file->size, out) : code;
}

int format_read(const char *path, struct tensor *out)
{
    struct file file;
    *out = (struct tensor){ 0 };
    int code = file_begin(path, &file);
    if (code == EXIT_DONE)
        code = format_read_begun(path, &file, out);
    file_free(&file);
    return code;
}

int format_read_memory(const char *path, const uint8_t *data, size_t size, struct tensor *out)
{
    *out = (struct tensor){ 0 };
    const struct format *const format = recognise(path, data, size);
    return format ? format->read(path, data, size, out) : EXIT_BAD;
}

const struct format *format_named(const char *name)
{
    for (const struct format *const *f = formats; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

int format_for_output(const char *path, const struct format **out)
{
    char list[64];
    const char *const extension = strrchr(path, '.');
    for (const struct format *const *f = formats; extension && *f; f++)
        if (strcasecmp(extension, (*f)->extension) == 0 && (*f)->write) {
            *out = *f;
            return EXIT_DONE;
        }
    return complain(EXIT_BAD, path, "the name of a weight file to write ends in one of %s",
                    format_list(true, list));
}

int format_write(const struct format *format, const char *path, const struct tensor *tensor,
                 FILE *stream)
{
    struct tensor other = { 0 };
    if (!tensor->values)
        return complain(EXIT_BAD, path, "there is a pattern to write, but no values");
    if (tensor->kind == format->stores)
        return format->write(path, tensor, stream);
    int code = format->stores == TENSOR_CSR ? tensor_to_csr(path, tensor, &other)
                                            : tensor_to_dense(path, tensor, &other);
    if (code == EXIT_DONE)
        code = format->write(path, &other, stream);
    tensor_free(&other);
    return code;
}
