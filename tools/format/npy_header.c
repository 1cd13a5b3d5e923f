/*
 * Magic, version, header length, then a Python dict in text: numpy's format versions 1.0, 2.0 and
 * 3.0, which differ in the width of the length and the encoding of the text.
 */
#include "npy_header.h"

#include "bytes.h"
#include "complain.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

bool npy_probe(const uint8_t *data, size_t size)
{
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* Finds the text of the dict. */
static int find_dict(const char *name, const uint8_t *data, size_t size, struct text *dict,
                     size_t *offset)
{
    if (!npy_probe(data, size) || size < 10)
        return complain(EXIT_BAD, name, "no .npy header");
    const int version = data[6];
    if (version < 1 || version > 3)
        return complain(EXIT_BAD, name, ".npy version %d.%d; 1.0 to 3.0 are known", version,
                        data[7]);
    const int width = version == 1 ? 2 : 4;
    const size_t start = 8 + (size_t)width;
    const uint64_t length = start <= size ? load_bytes(data + 8, width, false) : 0;
    if (length > NPY_MAX_HEADER)
        return complain(EXIT_BAD, name, "a .npy header of %" PRIu64 " bytes; at most %d are read",
                        length, NPY_MAX_HEADER);
    if (start > size || length > size - start)
        return complain(EXIT_BAD, name, "ends within its .npy header");
    *dict = text_of(data + start, (size_t)length);
    *offset = start + (size_t)length;
    return EXIT_DONE;
}

/* A string in either quote; escapes do not occur in what numpy writes here. */
static bool take_string(struct text *dict, char *out, size_t size)
{
    text_skip_space(dict);
    const char quote = text_at_end(dict) ? '\0' : *dict->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *const start = dict->at + 1;
    const char *const stop = memchr(start, quote, (size_t)(dict->end - start));
    if (!stop || (size_t)(stop - start) >= size)
        return false;
    memcpy(out, start, (size_t)(stop - start));
    out[stop - start] = '\0';
    dict->at = stop + 1;
    return true;
}

/* "<f4": byte order, kind, bytes (characters for 'U'). */
static int take_descr(const char *name, struct text *dict, struct npy_header *out)
{
    if (!take_string(dict, out->descr, sizeof out->descr))
        return complain(EXIT_BAD, name, "its .npy header has no plain dtype in 'descr'");
    const size_t length = strlen(out->descr);
    struct text number = text_of(out->descr + 2, length > 2 ? length - 2 : 0);
    int64_t size;
    if (length < 3 || !strchr("<>|=", out->descr[0]) || !text_take_integer(&number, &size) ||
        !text_at_end(&number) || size < 0 || size > NPY_MAX_ITEM / 4)
        return complain(EXIT_BAD, name, "cannot read its dtype '%s'", out->descr);
    out->big_endian = out->descr[0] == '>';
    out->kind = out->descr[1];
    out->item_size = (int)(out->kind == 'U' ? 4 * size : size);
    return EXIT_DONE;
}

static int take_order(const char *name, struct text *dict, struct npy_header *out)
{
    static const struct {
        char word[6];
        bool value;
    } words[] = { { "True", true }, { "False", false } };
    text_skip_space(dict);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        if ((size_t)(dict->end - dict->at) >= length &&
            memcmp(dict->at, words[i].word, length) == 0) {
            out->fortran_order = words[i].value;
            dict->at += length;
            return EXIT_DONE;
        }
    }
    return complain(EXIT_BAD, name, "'fortran_order' in its .npy header is neither True nor False");
}

/* After an element of a tuple or dict comes a comma or what closes it. */
static bool take_comma(struct text *dict, char close)
{
    if (text_take_char(dict, ','))
        return true;
    struct text ahead = *dict;
    return text_take_char(&ahead, close);
}

static int take_shape(const char *name, struct text *dict, struct npy_header *out)
{
    if (!text_take_char(dict, '('))
        return complain(EXIT_BAD, name, "'shape' in its .npy header is no tuple");
    for (out->rank = 0; !text_take_char(dict, ')'); out->rank++) {
        if (out->rank == TENSOR_MAX_RANK)
            return complain(EXIT_BAD, name, "more than %d dimensions", TENSOR_MAX_RANK);
        int64_t *const dim = &out->dims[out->rank];
        if (!text_take_integer(dict, dim) || *dim < 0 || !take_comma(dict, ')'))
            return complain(EXIT_BAD, name, "dimension %d of its shape is no size", out->rank);
    }
    return EXIT_DONE;
}

struct key {
    char word[16];
    int (*take)(const char *name, struct text *dict, struct npy_header *out);
};

static const struct key keys[] = { { "descr", take_descr },
                                   { "fortran_order", take_order },
                                   { "shape", take_shape } };
enum { KEYS = sizeof keys / sizeof *keys };

static int take_entry(const char *name, struct text *dict, bool seen[KEYS], struct npy_header *out)
{
    char word[sizeof keys->word];
    if (!take_string(dict, word, sizeof word) || !text_take_char(dict, ':'))
        return complain(EXIT_BAD, name, "cannot read the keys of its .npy header");
    for (int i = 0; i < KEYS; i++)
        if (strcmp(word, keys[i].word) == 0 && !seen[i]) {
            seen[i] = true;
            return keys[i].take(name, dict, out);
        }
    return complain(EXIT_BAD, name, "its .npy header has the key '%s' twice or for no reason",
                    word);
}

static int take_dict(const char *name, struct text *dict, struct npy_header *out)
{
    bool seen[KEYS] = { false };
    if (!text_take_char(dict, '{'))
        return complain(EXIT_BAD, name, "its .npy header is no Python dict");
    while (!text_take_char(dict, '}')) {
        const int code = take_entry(name, dict, seen, out);
        if (code != EXIT_DONE)
            return code;
        if (!take_comma(dict, '}'))
            return complain(EXIT_BAD, name, "its .npy header is no Python dict");
    }
    text_skip_space(dict);
    if (!text_at_end(dict))
        return complain(EXIT_BAD, name, "its .npy header goes on after the dict");
    for (int i = 0; i < KEYS; i++)
        if (!seen[i])
            return complain(EXIT_BAD, name, "its .npy header lacks '%s'", keys[i].word);
    return EXIT_DONE;
}

int npy_parse_header(const char *name, const uint8_t *data, size_t size, struct npy_header *out)
{
    struct text dict;
    *out = (struct npy_header){ 0 };
    int code = find_dict(name, data, size, &dict, &out->offset);
    if (code == EXIT_DONE)
        code = take_dict(name, &dict, out);
    if (code != EXIT_DONE)
        return code;
    size_t bytes;
    char shape[TENSOR_SHAPE_TEXT];
    if (!tensor_product(out->rank, out->dims, &out->count) ||
        __builtin_mul_overflow(out->count, out->item_size, &bytes) ||
        __builtin_add_overflow(out->offset, bytes, &out->total_size))
        return complain(EXIT_BAD, name, "its shape %s is too large",
                        tensor_shape_text(out->rank, out->dims, shape));
    return EXIT_DONE;
}

size_t npy_format_header(uint8_t out[NPY_WRITTEN_HEADER], const char *descr, int rank,
                         const int64_t *dims)
{
    enum { PREFIX = 10, ALIGNMENT = 64 };
    char shape[TENSOR_SHAPE_TEXT];
    char *const dict = (char *)out + PREFIX;
    const int length = snprintf(dict, NPY_WRITTEN_HEADER - PREFIX,
                                "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
                                tensor_shape_text(rank, dims, shape));
    const size_t used = PREFIX + (size_t)length;
    const size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out + used, ' ', total - used - 1);
    out[total - 1] = '\n';
    memcpy(out, magic, sizeof magic);
    store_little(out + 6, 2, 1); /* version 1.0 */
    store_little(out + 8, 2, total - PREFIX);
    return total;
}
