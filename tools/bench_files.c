#include "bench_files.h"

#include "complain.h"

#include <string.h>

/* The choices are no report. */
static const struct report_format *const formats[BENCH_FILES] = {
    [BENCH_CSV] = &report_format_csv,
    [BENCH_JSON] = &report_format_json,
    [BENCH_SVG] = &report_format_svg,
};

static const char *name_of(int file)
{
    return formats[file] ? formats[file]->name : "choices";
}

/* Of two measurements in one file the second would replace the first, or follow it in a pipe. */
static int check_paths(const struct bench_files *files)
{
    for (int i = 0; i < BENCH_FILES; i++)
        for (int j = 0; j < i; j++)
            if (files->paths[i] && files->paths[j] && strcmp(files->paths[i], files->paths[j]) == 0)
                return complain(EXIT_BAD, files->paths[i], "is asked for as %s and as %s",
                                name_of(j), name_of(i));
    return EXIT_DONE;
}

int bench_files_open(struct bench_files *files)
{
    int code = check_paths(files);
    for (int i = 0; i < BENCH_FILES && !code; i++)
        if (files->paths[i])
            code = output_open(files->paths[i], &files->outputs[i]);
    return code;
}

static int save_one(struct bench_files *files, int file, const struct report *report,
                    const struct choice_list *choices)
{
    FILE *const stream = output_stream(files->outputs[file]);
    int code = EXIT_DONE;
    if (formats[file])
        code = formats[file]->write(report, stream);
    else
        choices_write(choices, stream);
    return code ? code : output_commit(&files->outputs[file]);
}

int bench_files_save(struct bench_files *files, const struct report *report,
                     const struct choice_list *choices, bool is_measured)
{
    bool is_stdout_taken = false;
    int code = EXIT_DONE;
    for (int i = 0; i < BENCH_FILES && !code; i++) {
        if (!files->paths[i])
            continue;
        is_stdout_taken = is_stdout_taken || strcmp(files->paths[i], "-") == 0;
        if (is_measured)
            code = save_one(files, i, report, choices);
    }
    if (!code && !is_stdout_taken && report->count)
        code = report_save(report, &report_format_table, "-");
    return code;
}

void bench_files_abandon(struct bench_files *files)
{
    for (int i = 0; i < BENCH_FILES; i++)
        output_abandon(&files->outputs[i]);
}
