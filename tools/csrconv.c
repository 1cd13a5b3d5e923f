/* The command line: finds the subcommand, and prints the one line of a failure. */
#include "csrconv.h"
#include "command.h"
#include "complain.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_run,  &command_verify,  &command_bench,     &command_prune,
    &command_info, &command_compare, &command_reproduce, NULL,
};

static void print_help(FILE *stream)
{
    fprintf(stream,
            "csrconv %s: convolutions of pruned CNNs (sparse weights, dense activations)\n\n"
            "usage: csrconv COMMAND ...\n\n",
            csrconv_version_string());
    for (int i = 0; commands[i]; i++)
        fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream, "\n\"csrconv COMMAND --help\" explains one, with examples.\n");
}

static const struct command *find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int run(int argc, char **argv);

/* "csrconv help" and "csrconv help COMMAND", as other programs have it. */
static int run_help(int argc, char **argv)
{
    char flag[] = "--help";
    char *help[] = { argv[0], argc > 2 ? argv[2] : flag, flag, NULL };
    if (argc > 3)
        return complain(EXIT_BAD, argv[3], "help takes one command");
    return run(argc > 2 ? 3 : 2, help);
}

static int run(int argc, char **argv)
{
    const struct command *command;
    if (argc < 2)
        return complain(EXIT_BAD, "command line", "no command; \"csrconv --help\" lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("csrconv %s\n", csrconv_version_string());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0)
        return run_help(argc, argv);
    command = find(argv[1]);
    if (!command)
        return complain(EXIT_BAD, argv[1],
                        "there is no such command; \"csrconv --help\" lists them");
    return command->run(argc - 1, argv + 1);
}

/*
 * A standard stream that was closed would lend its number to the next file that is opened, and
 * messages would go into that. What stands in for it refuses, as a closed one does.
 */
static void stand_in_for_closed_streams(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    int code;
    stand_in_for_closed_streams();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of stdout, told below */
    code = run(argc, argv);
    if (code == COMMAND_HELPED)
        code = EXIT_DONE;
    if (code == EXIT_DONE && (fflush(stdout) || ferror(stdout)))
        code = complain(EXIT_WRONG, "standard output", "cannot be written");
    if (code != EXIT_DONE)
        fprintf(stderr, "csrconv: %s\n", complaint());
    return code;
}
