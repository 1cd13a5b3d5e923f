#include "command.h"

#include "complain.h"
#include "options.h"
#include "output.h"
#include "report/comparison.h"
#include "report/read.h"

static int run_compare(int argc, char **argv);

const struct command command_compare = {
    .name = "compare",
    .summary = "compare the measurements of two runs of bench",
    .help =
        "usage: csrconv compare OLD.csv NEW.csv\n"
        "\n"
        "Joins two files that bench --csv wrote and shows each median time of the new one beside\n"
        "that of the old one. A time counts as faster or slower only if the ranges between the\n"
        "quartiles do not overlap; else it is the same. The exit code is 0 also where the new one\n"
        "is slower, and 2 for files that cannot be compared or have nothing in common.\n"
        "\n"
        "examples:\n"
        "  csrconv bench --network resnet50 --csv before.csv\n"
        "  csrconv bench --network resnet50 --csv after.csv\n"
        "  csrconv compare before.csv after.csv\n",
    .run = run_compare,
};

static int write_comparison(const struct report *old, const struct report *fresh, char **names)
{
    struct output *output;
    int code = output_open("-", &output);
    if (code != EXIT_DONE)
        return code;
    const int compared = comparison_write(old, names[0], fresh, names[1], output_stream(output));
    code = output_commit(&output); /* a table of nothing in common too */
    return compared ? compared : code;
}

static int compare_files(char **names)
{
    struct report old, fresh;
    report_init(&old);
    report_init(&fresh);
    int code = report_read(&old, names[0], comparison_columns);
    if (code == EXIT_DONE)
        code = report_read(&fresh, names[1], comparison_columns);
    if (code == EXIT_DONE)
        code = write_comparison(&old, &fresh, names);
    report_free(&old);
    report_free(&fresh);
    return code;
}

static int run_compare(int argc, char **argv)
{
    static const struct option_spec no_options[] = { { .name = NULL } };
    struct text_list files = { 0 };
    int code = options_parse(&command_compare, no_options, argc, argv, &files);
    if (code == EXIT_DONE && files.count != 2)
        code = complain(EXIT_BAD, "compare", "takes two CSV files, not %zu", files.count);
    if (code == EXIT_DONE)
        code = compare_files(files.items);
    text_list_free(&files);
    return code;
}
