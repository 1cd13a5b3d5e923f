/*
 * The arguments of a subcommand: --name VALUE or --name=VALUE, flags, and positional arguments
 * anywhere between; -- ends the options. An option given twice is refused unless it is a list,
 * which goes on.
 */
#ifndef CSRCONV_TOOLS_OPTIONS_H
#define CSRCONV_TOOLS_OPTIONS_H

#include "command.h"
#include "number.h"

/* With the type that the value of such an option points to. */
enum option_kind {
    OPTION_FLAG,   /* int, set to 1 */
    OPTION_TEXT,   /* const char *, into argv */
    OPTION_TEXTS,  /* struct text_list, appended to */
    OPTION_WHOLE,  /* int64_t */
    OPTION_WHOLES, /* struct whole_list, appended to */
    OPTION_REAL,   /* double */
    OPTION_REALS,  /* struct real_list, appended to */
    OPTION_PAIR,   /* int64_t [2] */
    OPTION_PADDING /* int64_t [4]: top, left, bottom, right */
};

struct option_spec {
    const char *name; /* without the dashes; NULL ends a table */
    enum option_kind kind;
    void *value;         /* holds the default, and is written only if the option is given */
    int64_t least, most; /* of whole numbers */
    double low, below;   /* of reals: low <= number < below */
};

/*
 * Parses argv[1] and on. positional gets copies of the rest; NULL: the command takes none. Returns
 * EXIT_DONE, or EXIT_BAD with a complaint, or COMMAND_HELPED when --help or -h stood among the
 * options and the command's help went to standard output.
 */
int options_parse(const struct command *command, const struct option_spec *specs, int argc,
                  char **argv, struct text_list *positional);

#endif
