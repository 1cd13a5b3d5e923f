/*
 * A subcommand of the command line: each cmd_NAME.c ends in one constant of this struct, and main's
 * table lists them.
 */
#ifndef CSRCONV_TOOLS_COMMAND_H
#define CSRCONV_TOOLS_COMMAND_H

/* What run returns beside the exit codes: the help was asked for and shown, which main takes as 0.
 */
enum { COMMAND_HELPED = -1 };

struct command {
    const char *name;
    const char *summary; /* one line, for the list of commands */
    const char *help;    /* the whole text, with examples, ended by a newline */
    /* argv[0] is the command's own name. Returns an exit_code, complained of, or COMMAND_HELPED. */
    int (*run)(int argc, char **argv);
};

extern const struct command command_run, command_verify, command_bench, command_prune, command_info,
    command_compare, command_reproduce;

#endif
