#include "problem/network.h"

#include "complain.h"
#include "csv_reader.h"
#include "problem/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };
static const double least_published = 0.5; /* below that the paper's layers are left dense */

enum field {
    BATCH,
    CHANNELS,
    HEIGHT,
    WIDTH,
    FILTERS,
    KERNEL_H,
    KERNEL_W,
    STRIDE_H,
    STRIDE_W,
    PAD_H,
    PAD_W,
    DILATION_H,
    DILATION_W,
    GROUPS,
    FIELDS
};

static const struct {
    const char *column;
    int least;
    int absent; /* the value without such a column; -1: the column is needed */
} fields[FIELDS] = {
    [BATCH] = { "N_default", 1, 1 },   [CHANNELS] = { "C", 1, -1 },
    [HEIGHT] = { "H", 1, -1 },         [WIDTH] = { "W", 1, -1 },
    [FILTERS] = { "M", 1, -1 },        [KERNEL_H] = { "R", 1, -1 },
    [KERNEL_W] = { "S", 1, -1 },       [STRIDE_H] = { "stride_h", 1, 1 },
    [STRIDE_W] = { "stride_w", 1, 1 }, [PAD_H] = { "pad_h", 0, 0 },
    [PAD_W] = { "pad_w", 0, 0 },       [DILATION_H] = { "dil_h", 1, 1 },
    [DILATION_W] = { "dil_w", 1, 1 },  [GROUPS] = { "groups", 1, 1 },
};

struct table {
    struct csv csv;
    char network[PROBLEM_NAME_SIZE]; /* where there is no column net */
    int columns[FIELDS];
    int net, layer, sparsity;
};

/* resnet50 of data/resnet50.csv */
static void name_by_file(struct table *table, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    snprintf(table->network, sizeof table->network, "%.*s", (int)length, base);
}

static int find_columns(struct table *table)
{
    int code = csv_need_column(&table->csv, "layer", &table->layer);
    for (int field = 0; code == EXIT_DONE && field < FIELDS; field++)
        if (fields[field].absent < 0)
            code = csv_need_column(&table->csv, fields[field].column, &table->columns[field]);
        else
            table->columns[field] = csv_column(&table->csv, fields[field].column);
    table->net = csv_column(&table->csv, "net");
    table->sparsity = csv_column(&table->csv, "sparsity");
    return code;
}

static int read_name(const struct table *table, struct problem *problem)
{
    const char *layer = csv_cell(&table->csv, table->layer);
    const char *network = table->net < 0 ? table->network : csv_cell(&table->csv, table->net);
    if (!*layer)
        return csv_complain(&table->csv, table->layer, "the name is missing");
    if (!*network)
        return csv_complain(&table->csv, table->net, "the name is missing");
    const int length = snprintf(problem->name, sizeof problem->name, "%s:%s", network, layer);
    if (length >= (int)sizeof problem->name)
        return csv_complain(&table->csv, table->layer,
                            "network and layer have more than 126 bytes");
    return EXIT_DONE;
}

static int read_sparsity(const struct table *table, struct problem *problem)
{
    if (!*csv_cell(&table->csv, table->sparsity))
        return EXIT_DONE;
    const int code = csv_number(&table->csv, table->sparsity, &problem->sparsity);
    if (code == EXIT_DONE && !(problem->sparsity >= 0 && problem->sparsity < 1))
        return csv_complain(&table->csv, table->sparsity,
                            "a sparsity is the fraction of zeros, 0 <= sparsity < 1");
    return code;
}

static int read_geometry(const struct table *table, struct problem *problem)
{
    int64_t v[FIELDS];
    for (int field = 0; field < FIELDS; field++) {
        v[field] = fields[field].absent;
        if (table->columns[field] < 0)
            continue;
        const int code =
            csv_integer(&table->csv, table->columns[field], fields[field].least, &v[field]);
        if (code != EXIT_DONE)
            return code;
    }
    csrconv_geometry *g = &problem->geometry;
    csrconv_geometry_init(g);
    g->batch = problem->batch_default = v[BATCH];
    g->channels = v[CHANNELS];
    g->height = v[HEIGHT];
    g->width = v[WIDTH];
    g->filters = v[FILTERS];
    g->kernel_h = v[KERNEL_H];
    g->kernel_w = v[KERNEL_W];
    g->stride_h = v[STRIDE_H];
    g->stride_w = v[STRIDE_W];
    g->pad_top = g->pad_bottom = v[PAD_H];
    g->pad_left = g->pad_right = v[PAD_W];
    g->dilation_h = v[DILATION_H];
    g->dilation_w = v[DILATION_W];
    g->groups = v[GROUPS];
    if (csrconv_output_size(g, NULL, NULL) != CSRCONV_OK)
        return csv_complain(&table->csv, -1, csrconv_last_error());
    return EXIT_DONE;
}

static int read_layer(const struct table *table, bool all_layers, struct problem_list *list)
{
    struct problem problem = { .sparsity = -1 };
    int code = read_name(table, &problem);
    if (code == EXIT_DONE)
        code = read_geometry(table, &problem);
    if (code == EXIT_DONE)
        code = read_sparsity(table, &problem);
    if (code != EXIT_DONE || (!all_layers && problem.sparsity < least_published))
        return code;
    return problem_list_add(list, &problem);
}

/* Reads to the end in any case, so that a fault is found whichever layers are asked for. */
static int read_layers(struct table *table, bool all_layers, struct problem_list *list)
{
    const size_t before = list->count;
    int64_t layers = 0;
    int code = find_columns(table);
    for (bool more = true; code == EXIT_DONE;) {
        code = csv_next_row(&table->csv, &more);
        if (code != EXIT_DONE || !more)
            break;
        code = read_layer(table, all_layers, list);
        layers++;
    }
    if (code != EXIT_DONE || list->count > before)
        return code;
    if (layers == 0)
        return complain(EXIT_BAD, table->csv.where, "no layers in it");
    return complain(EXIT_BAD, table->csv.where,
                    "none of its %lld layers has a published sparsity of 0.5 or more; --all-layers "
                    "takes them all",
                    (long long)layers);
}

static int load_table(const char *path, bool all_layers, struct problem_list *list)
{
    char *text;
    size_t size;
    int code = text_file_read(path, &text, &size);
    if (code != EXIT_DONE)
        return code;
    struct table table;
    name_by_file(&table, path);
    code = csv_open(&table.csv, path, text, size);
    if (code == EXIT_DONE)
        code = read_layers(&table, all_layers, list);
    csv_close(&table.csv);
    free(text);
    return code;
}

static bool is_path(const char *network)
{
    const size_t length = strlen(network);
    return strchr(network, '/') || (length > 4 && strcmp(network + length - 4, ".csv") == 0);
}

static bool can_open(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream)
        fclose(stream);
    return stream;
}

int network_load(const char *const *directories, const char *network, bool all_layers,
                 struct problem_list *list)
{
    if (is_path(network))
        return load_table(network, all_layers, list);
    for (; *directories; directories++) {
        char path[PATH_SIZE];
        const int length = snprintf(path, sizeof path, "%s/%s.csv", *directories, network);
        if (length < (int)sizeof path && can_open(path))
            return load_table(path, all_layers, list);
    }
    return complain(EXIT_BAD, network,
                    "no network of that name is known; a table of one's own is given as FILE.csv");
}
