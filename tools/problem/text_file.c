#include "problem/text_file.h"

#include "complain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16, MOST = 64 << 20 };

/* Doubles the room until the stream ends in it: pipes have no size to ask for. */
static int read_stream(FILE *stream, const char *path, char **text, size_t *size)
{
    for (size_t room = FIRST_ROOM; room <= 2U * MOST; room *= 2) {
        char *larger = realloc(*text, room + 1);
        if (!larger)
            return complain(EXIT_WRONG, path, "out of memory");
        *text = larger;
        *size += fread(*text + *size, 1, room - *size, stream);
        if (ferror(stream))
            return complain(EXIT_BAD, path, "%s", strerror(errno));
        if (*size > MOST)
            break;
        if (*size < room) {
            (*text)[*size] = '\0';
            return EXIT_DONE;
        }
    }
    return complain(EXIT_BAD, path, "larger than %d MiB: no table", MOST >> 20);
}

int text_file_read(const char *path, char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return complain(EXIT_BAD, path, "%s", strerror(errno));
    const int code = read_stream(stream, path, text, size);
    fclose(stream);
    if (code != EXIT_DONE) {
        free(*text);
        *text = NULL;
    }
    return code;
}
