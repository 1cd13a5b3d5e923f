#include "prune/targets.h"

#include "complain.h"
#include "csv_reader.h"
#include "format/file.h"
#include "report/csv.h"

#include <inttypes.h>
#include <stdlib.h>

static struct prune_layer *find_layer(struct prune_model *model, const char *name)
{
    for (size_t i = 0; i < model->count; i++)
        if (prune_model_has_name(model, i, name))
            return &model->layers[i];
    return NULL;
}

static int read_row(const struct csv *csv, int name, int sparsity, bool *seen,
                    struct prune_model *model)
{
    struct prune_layer *const layer = find_layer(model, csv_cell(csv, name));
    double value;
    if (!layer)
        return csv_complain(csv, name, "is no convolution of the model that may be pruned");
    if (seen[layer - model->layers])
        return csv_complain(csv, name, "names a layer that an earlier row names");
    const int code = csv_number(csv, sparsity, &value);
    if (code)
        return code;
    if (value < 0.0 || value >= 1.0)
        return csv_complain(csv, sparsity, "is no sparsity: 0 <= P < 1");
    seen[layer - model->layers] = true;
    layer->sparsity = value;
    return EXIT_DONE;
}

static int read_rows(struct csv *csv, struct prune_model *model)
{
    bool *const seen = calloc(model->count + 1, sizeof *seen);
    bool more = true;
    int name, sparsity;
    int code = seen ? csv_need_column(csv, "layer", &name)
                    : complain(EXIT_WRONG, csv->where, "out of memory");
    if (!code)
        code = csv_need_column(csv, "sparsity", &sparsity);
    while (!code && !(code = csv_next_row(csv, &more)) && more)
        code = read_row(csv, name, sparsity, seen, model);
    free(seen);
    return code;
}

int prune_targets_read(const char *path, struct prune_model *model)
{
    struct file file;
    int code = file_whole(path, &file);
    if (!code) {
        struct csv csv;
        code = csv_open(&csv, path, (const char *)file.data, file.size);
        if (!code)
            code = read_rows(&csv, model);
        csv_close(&csv);
    }
    file_free(&file);
    return code;
}

void prune_targets_write(const struct prune_model *model, FILE *stream)
{
    fputs("layer,weights,zeros,sparsity\n", stream);
    for (size_t i = 0; i < model->count; i++) {
        const struct prune_layer *const layer = &model->layers[i];
        const int64_t size = prune_layer_size(layer), zeros = prune_layer_zeros(layer);
        csv_write_cell(stream, layer->name);
        fprintf(stream, ",%" PRId64 ",%" PRId64 ",%.17g\n", size, zeros,
                (double)zeros / (double)size);
    }
}
