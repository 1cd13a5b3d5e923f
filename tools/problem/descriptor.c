#include "problem/descriptor.h"

#include "complain.h"
#include "problem/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { INPUT, OUTPUT, KERNEL, STRIDE, PAD, DILATION, KINDS };
static const char kind_letters[] = "iokspd"; /* in the order of enum kind */
static const int64_t unset[KINDS] = { 0, 0, 0, 1, -1, 0 };

struct axis {
    char letter;
    int64_t value[KINDS]; /* as given; unset where not */
    int64_t pad_back;
};

struct parser {
    const char *where;
    const char *at;
    int64_t groups, batch, channels, filters;
    struct axis h, w;
};

static struct parser parser_start(const char *where, const char *text)
{
    struct parser parser = { where, text, 1, 2, 0, 0, { .letter = 'h' }, { .letter = 'w' } };
    memcpy(parser.h.value, unset, sizeof unset);
    memcpy(parser.w.value, unset, sizeof unset);
    return parser;
}

/* The number that the key at parser->at sets, and the length of the key. */
static int find_key(struct parser *parser, int64_t **number, size_t *length)
{
    const char *at = parser->at;
    const char *letter = strchr(kind_letters, at[0]);
    *length = at[0] == 'g' ? 1 : 2;
    if (at[0] == 'g')
        *number = &parser->groups;
    else if (strncmp(at, "mb", 2) == 0)
        *number = &parser->batch;
    else if (strncmp(at, "ic", 2) == 0)
        *number = &parser->channels;
    else if (strncmp(at, "oc", 2) == 0)
        *number = &parser->filters;
    else if (letter && at[1] == 'h')
        *number = &parser->h.value[letter - kind_letters];
    else if (letter && at[1] == 'w')
        *number = &parser->w.value[letter - kind_letters];
    else if (letter && at[1] == 'd')
        return complain(EXIT_REFUSED, parser->where,
                        "the key %.2s: three-dimensional convolutions are not supported", at);
    else
        return complain(EXIT_BAD, parser->where, "unknown key at '%.20s'", at);
    return EXIT_DONE;
}

static int parse_entry(struct parser *parser)
{
    int64_t *number;
    size_t length;
    const int code = find_key(parser, &number, &length);
    if (code != EXIT_DONE)
        return code;
    const char *digits = parser->at + length;
    if (!isdigit((unsigned char)*digits))
        return complain(EXIT_BAD, parser->where,
                        "a whole number is missing after the key at '%.20s'", parser->at);
    char *end;
    errno = 0;
    *number = strtoll(digits, &end, 10);
    if (errno == ERANGE)
        return complain(EXIT_BAD, parser->where, "the number at '%.40s' needs more than 64 bits",
                        parser->at);
    parser->at = end + (*end == '_');
    return EXIT_DONE;
}

/* Values decide, not presence, so that sw1dw0pw0 alone does not make an axis: as in benchdnn. */
static bool is_given(const struct axis *axis)
{
    const int64_t *value = axis->value;
    return value[INPUT] || value[OUTPUT] || value[KERNEL] || value[DILATION] ||
           value[STRIDE] != 1 || value[PAD] > 0;
}

/* Completes each axis by the other; see the rules in the header. */
static int share_axes(struct parser *parser)
{
    static const int64_t flat[KINDS] = { 1, 1, 1, 1, 0, 0 };
    int64_t *h = parser->h.value, *w = parser->w.value;
    const bool has_h = is_given(&parser->h), has_w = is_given(&parser->w);
    if (!has_h && !has_w)
        return complain(EXIT_BAD, parser->where, "the input size is missing (ih or iw)");
    if (!has_h) {
        memcpy(h, flat, sizeof flat);
    } else if (!has_w) {
        memcpy(w, h, sizeof parser->w.value);
    } else if (!w[INPUT] || !w[KERNEL]) {
        for (int kind = 0; kind < KINDS; kind++)
            if (kind != OUTPUT && w[kind] == unset[kind])
                w[kind] = h[kind];
    }
    return EXIT_DONE;
}

static int too_large(const struct parser *parser, const struct axis *axis)
{
    return complain(EXIT_BAD, parser->where, "the sizes along %c overflow 64 bits", axis->letter);
}

static int missing(const struct parser *parser, char first, char second, const char *what)
{
    return complain(EXIT_BAD, parser->where, "%s is missing (%c%c)", what, first, second);
}

/* The output from the padding, where that is not given. */
static int deduce_output(const struct parser *parser, struct axis *axis, int64_t extent)
{
    int64_t *value = axis->value, room;
    if (value[PAD] < 0)
        value[PAD] = 0;
    if (__builtin_mul_overflow(value[PAD], 2, &room) ||
        __builtin_add_overflow(room, value[INPUT], &room))
        return too_large(parser, axis);
    if (room < extent)
        return complain(
            EXIT_BAD, parser->where,
            "the output is empty: along %c a kernel that spans %lld is applied to %lld, "
            "padding included",
            axis->letter, (long long)extent, (long long)room);
    value[OUTPUT] = (room - extent) / value[STRIDE] + 1;
    return EXIT_DONE;
}

/* The padding from the output: all of it where none is given, in any case that at the back. */
static int deduce_padding(const struct parser *parser, struct axis *axis, int64_t extent)
{
    int64_t *value = axis->value, total;
    if (__builtin_mul_overflow(value[OUTPUT] - 1, value[STRIDE], &total) ||
        __builtin_add_overflow(total, extent, &total))
        return too_large(parser, axis);
    total -= value[INPUT];
    if (value[PAD] < 0)
        value[PAD] = total > 0 ? total / 2 : 0;
    if (__builtin_sub_overflow(total, value[PAD], &axis->pad_back))
        return too_large(parser, axis);
    if (axis->pad_back <= -value[STRIDE])
        return complain(EXIT_REFUSED, parser->where,
                        "the output o%c%lld leaves out %lld of the input: cropped outputs are not "
                        "supported",
                        axis->letter, (long long)value[OUTPUT], -(long long)axis->pad_back);
    if (axis->pad_back < 0)
        axis->pad_back = 0;
    return EXIT_DONE;
}

static int complete_axis(const struct parser *parser, struct axis *axis)
{
    const int64_t *value = axis->value;
    int64_t extent;
    if (!value[INPUT])
        return missing(parser, 'i', axis->letter, "the input size");
    if (!value[KERNEL])
        return missing(parser, 'k', axis->letter, "the kernel size");
    if (!value[STRIDE])
        return complain(EXIT_BAD, parser->where, "the stride s%c is 0", axis->letter);
    if (__builtin_add_overflow(value[DILATION], 1, &extent) ||
        __builtin_mul_overflow(value[KERNEL] - 1, extent, &extent) ||
        __builtin_add_overflow(extent, 1, &extent))
        return too_large(parser, axis);
    const int code = value[OUTPUT] ? EXIT_DONE : deduce_output(parser, axis, extent);
    return code == EXIT_DONE ? deduce_padding(parser, axis, extent) : code;
}

static int fill_geometry(const struct parser *parser, csrconv_geometry *geometry)
{
    const int64_t *h = parser->h.value, *w = parser->w.value;
    csrconv_geometry_init(geometry);
    geometry->batch = parser->batch;
    geometry->channels = parser->channels;
    geometry->height = h[INPUT];
    geometry->width = w[INPUT];
    geometry->filters = parser->filters;
    geometry->kernel_h = h[KERNEL];
    geometry->kernel_w = w[KERNEL];
    geometry->stride_h = h[STRIDE];
    geometry->stride_w = w[STRIDE];
    geometry->dilation_h = h[DILATION] + 1;
    geometry->dilation_w = w[DILATION] + 1;
    geometry->pad_top = h[PAD];
    geometry->pad_left = w[PAD];
    geometry->pad_bottom = parser->h.pad_back;
    geometry->pad_right = parser->w.pad_back;
    geometry->groups = parser->groups;
    if (csrconv_output_size(geometry, NULL, NULL) != CSRCONV_OK)
        return complain(EXIT_BAD, parser->where, "%s", csrconv_last_error());
    return EXIT_DONE;
}

static int complete(struct parser *parser, csrconv_geometry *geometry)
{
    if (!parser->channels)
        return missing(parser, 'i', 'c', "the number of channels");
    if (!parser->filters)
        return missing(parser, 'o', 'c', "the number of filters");
    int code = share_axes(parser);
    if (code == EXIT_DONE)
        code = complete_axis(parser, &parser->h);
    if (code == EXIT_DONE)
        code = complete_axis(parser, &parser->w);
    return code == EXIT_DONE ? fill_geometry(parser, geometry) : code;
}

/* The name after n without its quotes: n"a"*3 is a*3. */
static int parse_name(const struct parser *parser, char *name)
{
    size_t length = 0, quotes = 0;
    for (const char *at = parser->at + 1; *at; at++) {
        if (*at == '"') {
            quotes++;
            continue;
        }
        if (iscntrl((unsigned char)*at))
            return complain(EXIT_BAD, parser->where, "a control character in the name");
        if (length + 1 == PROBLEM_NAME_SIZE)
            return complain(EXIT_BAD, parser->where, "the name is longer than %d bytes",
                            PROBLEM_NAME_SIZE - 1);
        name[length++] = *at;
    }
    name[length] = '\0';
    if (quotes % 2)
        return complain(EXIT_BAD, parser->where, "the quote of the name is not closed");
    return EXIT_DONE;
}

/* The name of a problem that has none; n alone or n"" may end the text. */
static void name_by_text(struct problem *problem, const char *text, const char *end)
{
    char canonical[PROBLEM_TEXT_SIZE];
    while (end > text && end[-1] == '_')
        end--;
    if (end - text < PROBLEM_NAME_SIZE) {
        snprintf(problem->name, sizeof problem->name, "%.*s", (int)(end - text), text);
        return;
    }
    problem_format(&problem->geometry, canonical);
    snprintf(problem->name, sizeof problem->name, "%.*s", PROBLEM_NAME_SIZE - 1, canonical);
}

int descriptor_parse(const char *where, const char *text, struct problem *problem)
{
    struct parser parser = parser_start(where, text);
    int code = EXIT_DONE;
    *problem = (struct problem){ .sparsity = -1 };
    while (code == EXIT_DONE && *parser.at && *parser.at != 'n')
        code = parse_entry(&parser);
    if (code == EXIT_DONE)
        code = complete(&parser, &problem->geometry);
    if (code == EXIT_DONE && *parser.at)
        code = parse_name(&parser, problem->name);
    if (code != EXIT_DONE)
        return code;
    problem->batch_default = parser.batch;
    if (!*problem->name)
        name_by_text(problem, text, parser.at);
    return EXIT_DONE;
}

/* Cuts a comment and the blanks around what is left. */
static char *trim(char *line)
{
    for (char *at = strchr(line, '#'); at; at = strchr(at + 1, '#'))
        if (at == line || isspace((unsigned char)at[-1])) {
            *at = '\0';
            break;
        }
    while (isspace((unsigned char)*line))
        line++;
    for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]); length--)
        line[length - 1] = '\0';
    return line;
}

static int parse_line(const char *path, int64_t number, const char *line, struct problem_list *list)
{
    char where[512];
    struct problem problem;
    snprintf(where, sizeof where, "%s:%lld: %.200s", path, (long long)number, line);
    const int code = descriptor_parse(where, line, &problem);
    return code == EXIT_DONE ? problem_list_add(list, &problem) : code;
}

static int load_file(const char *path, struct problem_list *list)
{
    char *text;
    size_t size;
    int code = text_file_read(path, &text, &size);
    if (code == EXIT_DONE && strlen(text) != size)
        code = complain(EXIT_BAD, path, "not a text: it holds NUL bytes");
    const size_t before = list->count;
    int64_t number = 1;
    for (char *line = text, *next; code == EXIT_DONE && line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = trim(line);
        if (*line)
            code = parse_line(path, number, line, list);
    }
    free(text);
    if (code == EXIT_DONE && list->count == before)
        code = complain(EXIT_BAD, path, "no descriptor in it");
    return code;
}

int descriptor_load(const char *argument, struct problem_list *list)
{
    if (argument[0] == '@')
        return load_file(argument + 1, list);
    struct problem problem;
    const int code = descriptor_parse(argument, argument, &problem);
    return code == EXIT_DONE ? problem_list_add(list, &problem) : code;
}
