#include "options.h"

#include "complain.h"
#include "nearest.h"

#include <stdio.h>
#include <string.h>

/* More options than any command has, as "was given" is one bit each; and room for a name. */
enum { MOST_OPTIONS = 64, LONGEST_FLAG = 64 };

struct parser {
    const struct command *command;
    const struct option_spec *specs;
    int argc;
    char **argv;
    int next;       /* the argument to look at */
    uint64_t given; /* bit i: specs[i] was given */
};

/* ---------------------------------------------------------------------------- one value by kind */

typedef int take_value(const struct option_spec *spec, const char *flag, const char *text);

static int take_text(const struct option_spec *spec, const char *flag, const char *text)
{
    (void)flag;
    *(const char **)spec->value = text;
    return EXIT_DONE;
}

static int take_texts(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_texts(flag, text, spec->value);
}

static int take_whole(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_whole(flag, text, spec->least, spec->most, spec->value);
}

static int take_wholes(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_wholes(flag, text, spec->least, spec->most, spec->value);
}

static int take_real(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_real(flag, text, spec->low, spec->below, spec->value);
}

static int take_reals(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_reals(flag, text, spec->low, spec->below, spec->value);
}

static int take_pair(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_pair(flag, text, spec->least, spec->most, spec->value);
}

static int take_padding(const struct option_spec *spec, const char *flag, const char *text)
{
    return number_padding(flag, text, spec->least, spec->most, spec->value);
}

static const struct {
    take_value *take; /* NULL: takes no value */
    int is_list;
} kinds[] = {
    [OPTION_FLAG] = { NULL, 0 },
    [OPTION_TEXT] = { take_text, 0 },
    [OPTION_TEXTS] = { take_texts, 1 },
    [OPTION_WHOLE] = { take_whole, 0 },
    [OPTION_WHOLES] = { take_wholes, 1 },
    [OPTION_REAL] = { take_real, 0 },
    [OPTION_REALS] = { take_reals, 1 },
    [OPTION_PAIR] = { take_pair, 0 },
    [OPTION_PADDING] = { take_padding, 0 },
};

/* ----------------------------------------------------------------------------------- one option */

static const struct option_spec *find(const struct parser *parser, const char *name, size_t length)
{
    for (const struct option_spec *spec = parser->specs; spec->name; spec++)
        if (strlen(spec->name) == length && memcmp(spec->name, name, length) == 0)
            return spec;
    return NULL;
}

static int unknown(const struct parser *parser, const char *argument)
{
    char word[LONGEST_FLAG];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    struct nearest nearest = nearest_to(word + strspn(word, "-"));
    nearest_consider(&nearest, "help");
    for (const struct option_spec *spec = parser->specs; spec->name; spec++)
        nearest_consider(&nearest, spec->name);
    if (nearest.best)
        return complain(EXIT_BAD, word, "%s has no such option; did you mean --%s?",
                        parser->command->name, nearest.best);
    return complain(EXIT_BAD, word, "%s has no such option; see csrconv %s --help",
                    parser->command->name, parser->command->name);
}

/* Marks an option as given; a second time is a contradiction, unless it is a list. */
static int mark(struct parser *parser, const struct option_spec *spec, const char *flag)
{
    const uint64_t bit = UINT64_C(1) << (spec - parser->specs);
    if ((parser->given & bit) && !kinds[spec->kind].is_list)
        return complain(EXIT_BAD, flag, "is given twice");
    parser->given |= bit;
    return EXIT_DONE;
}

/* The value behind '=' or in the next argument. One that looks like an option was forgotten. */
static const char *value_of(struct parser *parser, const char *equals)
{
    if (equals)
        return equals + 1;
    if (parser->next >= parser->argc || strncmp(parser->argv[parser->next], "--", 2) == 0)
        return NULL;
    return parser->argv[parser->next++];
}

static int parse_option(struct parser *parser, const char *argument)
{
    const char *const name = argument + 2;
    const char *const equals = strchr(name, '=');
    const struct option_spec *const spec = find(parser, name, strcspn(name, "="));
    if (!spec)
        return unknown(parser, argument);
    char flag[LONGEST_FLAG];
    snprintf(flag, sizeof flag, "--%s", spec->name);
    const int code = mark(parser, spec, flag);
    if (code != EXIT_DONE)
        return code;
    if (!kinds[spec->kind].take) {
        *(int *)spec->value = 1;
        return equals ? complain(EXIT_BAD, flag, "takes no value") : EXIT_DONE;
    }
    const char *const value = value_of(parser, equals);
    if (!value || !*value)
        return complain(EXIT_BAD, flag, "needs a value");
    return kinds[spec->kind].take(spec, flag, value);
}

/* ------------------------------------------------------------------------------- all arguments */

static int parse_positional(const struct parser *parser, const char *argument,
                            struct text_list *positional)
{
    if (!positional)
        return complain(EXIT_BAD, argument, "%s takes no such argument", parser->command->name);
    return text_list_append(parser->command->name, argument, positional);
}

int options_parse(const struct command *command, const struct option_spec *specs, int argc,
                  char **argv, struct text_list *positional)
{
    struct parser parser = { command, specs, argc, argv, 1, 0 };
    int code = EXIT_DONE;
    int options_ended = 0;
    while (parser.next < argc && code == EXIT_DONE) {
        const char *const argument = argv[parser.next++];
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            code = parse_positional(&parser, argument, positional);
        } else if (strcmp(argument, "--") == 0) {
            options_ended = 1;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            fputs(command->help, stdout);
            code = COMMAND_HELPED;
        } else if (argument[1] == '-') {
            code = parse_option(&parser, argument);
        } else {
            code = unknown(&parser, argument);
        }
    }
    return code;
}
