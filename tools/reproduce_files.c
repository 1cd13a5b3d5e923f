#include "reproduce_files.h"

#include "complain.h"
#include "made_folder.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

static int open_in(const char *folder, const char *name, struct output **output)
{
    char *const path = text_format("%s/%s", folder, name);
    const int code = path ? output_open(path, output)
                          : complain(EXIT_WRONG, "memory", "no room for the name of a file");
    free(path);
    return code;
}

int reproduce_files_open(const char *folder, const struct reproduction *r,
                         struct reproduce_files *files)
{
    int code;
    memset(files, 0, sizeof *files);
    if ((code = made_folder_make(folder)) ||
        (code = open_in(folder, "report.md", &files->report)) ||
        (code = open_in(folder, "layers.csv", &files->layers)) ||
        (code = open_in(folder, "ablation.csv", &files->ablation)) ||
        (code = open_in(folder, "totals.svg", &files->totals)))
        return code;
    for (size_t i = 0; i < r->count && !code; i++)
        code = open_in(folder, r->networks[i].chart, &files->charts[i]);
    return code;
}

static int save(const struct report_format *format, const struct report *report,
                struct output **output)
{
    const int code = format->write(report, output_stream(*output));
    return code ? code : output_commit(output);
}

static int add_all(const struct report *from, struct report *to)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < from->count && !code; i++)
        code = report_add(to, &from->results[i]);
    return code;
}

static int save_chart(const struct reproduction_network *network, int is_cpu,
                      struct output **output)
{
    struct report chart;
    int code;
    report_init(&chart);
    code = reproduction_add_chart(network, is_cpu, &chart);
    if (!code)
        code = save(&report_format_svg, &chart, output);
    report_free(&chart);
    return code;
}

/* What the networks have together. */
struct together {
    struct report layers, ablation, totals;
};

static int put_together(const struct reproduction *r, struct together *t)
{
    int code = EXIT_DONE;
    report_init(&t->layers);
    report_init(&t->ablation);
    report_init(&t->totals);
    for (size_t i = 0; i < r->count && !code; i++)
        if (!(code = add_all(&r->networks[i].report, &t->layers)) &&
            !(code = add_all(&r->networks[i].ablation, &t->ablation)))
            code = reproduction_add_totals(&r->networks[i], &t->totals);
    return code;
}

static int save_all(const struct reproduction *r, const struct together *t,
                    struct reproduce_files *files)
{
    int code;
    if ((code = save(&report_format_csv, &t->layers, &files->layers)) ||
        (code = save(&report_format_csv, &t->ablation, &files->ablation)) ||
        (code = save(&report_format_svg, &t->totals, &files->totals)))
        return code;
    for (size_t i = 0; i < r->count && !code; i++)
        code = save_chart(&r->networks[i], r->is_cpu, &files->charts[i]);
    if (!code)
        code = reproduction_write(r, output_stream(files->report));
    return code ? code : output_commit(&files->report);
}

int reproduce_files_save(const struct reproduction *r, struct reproduce_files *files)
{
    struct together together;
    int code = put_together(r, &together);
    if (!code)
        code = save_all(r, &together, files);
    report_free(&together.layers);
    report_free(&together.ablation);
    report_free(&together.totals);
    return code;
}

void reproduce_files_abandon(struct reproduce_files *files)
{
    struct output **const all[] = { &files->report, &files->layers, &files->ablation,
                                    &files->totals };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        output_abandon(all[i]);
    for (size_t i = 0; i < REPRODUCE_NETWORKS; i++)
        output_abandon(&files->charts[i]);
    made_folder_remove();
}
