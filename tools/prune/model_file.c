/* csrconv prune of a model: read, prune, write as the same kind of file, report. */
#include "prune/request.h"

#include "complain.h"
#include "model/model.h"
#include "output.h"
#include "prune/model.h"
#include "prune/report.h"
#include "prune/targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int check_request(const struct prune_request *r)
{
    if (r->method.kind == PRUNE_NM && (r->sparsity >= 0.0 || r->layer_sparsity || r->is_global))
        return complain(EXIT_BAD, "--method",
                        "nm:N:M says how many stay: it takes no sparsity and no scope");
    if (r->is_global && r->layer_sparsity)
        return complain(EXIT_BAD, "--layer-sparsity", "goes with --scope layer");
    if (r->method.kind != PRUNE_NM && r->sparsity < 0.0 && (r->is_global || !r->layer_sparsity))
        return complain(EXIT_BAD, "prune", "needs --sparsity or, layer by layer, --layer-sparsity");
    return EXIT_DONE;
}

static bool ends_in(const char *path, const char *extension)
{
    const size_t length = strlen(path), more = strlen(extension);
    return length > more && strcasecmp(path + length - more, extension) == 0;
}

/* The format that is written: the input's, or safetensors of any. */
static int choose_format(const struct prune_request *r, const struct model *model,
                         const struct model_format **out)
{
    *out = model->format;
    if (strcmp(r->output, "-") != 0 && !ends_in(r->output, model->format->extension)) {
        if (!ends_in(r->output, ".safetensors"))
            return complain(EXIT_BAD, r->output,
                            "%s is a model: the name of its pruned copy ends in %s or .safetensors",
                            r->input, model->format->extension);
        *out = model_format_named("safetensors");
    }
    if (r->is_csr && *out != model_format_named("safetensors"))
        return complain(EXIT_BAD, "--csr", "goes with an output that ends in .safetensors");
    return EXIT_DONE;
}

static int check_reports(const struct prune_request *r)
{
    for (size_t i = 0; i < r->reports.count; i++)
        if (!ends_in(r->reports.items[i], ".md") && !ends_in(r->reports.items[i], ".svg"))
            return complain(EXIT_BAD, r->reports.items[i],
                            "the name of a report ends in .md or .svg");
    return EXIT_DONE;
}

/* The files that are written: the model, a table, reports; NULL where none was asked for. */
static const char *output_at(const struct prune_request *r, size_t index)
{
    return index == 0 ? r->output : index == 1 ? r->sparsities_out : r->reports.items[index - 2];
}

/* Of two of one name the second would replace the first. */
static int check_outputs(const struct prune_request *r)
{
    for (size_t i = 0; i < 2 + r->reports.count; i++)
        for (size_t j = 0; j < i; j++)
            if (output_at(r, i) && output_at(r, j) && strcmp(output_at(r, i), output_at(r, j)) == 0)
                return complain(EXIT_BAD, output_at(r, i), "is asked for twice");
    return EXIT_DONE;
}

/* What was done, in words, for the reports. */
struct sentence {
    char text[160];
};

static struct sentence describe(const struct prune_request *r)
{
    struct sentence how;
    char target[64] = "";
    if (r->sparsity >= 0.0)
        snprintf(target, sizeof target, ", sparsity %g %s", r->sparsity,
                 r->is_global ? "over all layers together" : "in each layer");
    snprintf(how.text, sizeof how.text, "Method %.40s%s%s", r->method_text, target,
             r->layer_sparsity ? ", sparsities of layers from a table" : "");
    return how;
}

static int commit(struct output *output, int code)
{
    if (!code)
        return output_commit(&output);
    output_abandon(&output);
    return code;
}

static int write_model(const struct prune_request *r, const struct model *model,
                       const struct model_format *format)
{
    struct output *output;
    const int code = output_open(r->output, &output);
    return code ? code : commit(output, format->write(model, r->output, output_stream(output)));
}

static int write_report(const struct prune_request *r, const char *path,
                        const struct prune_model *prune)
{
    const struct sentence how = describe(r);
    struct output *output;
    const int code = output_open(path, &output);
    if (code)
        return code;
    FILE *const stream = output_stream(output);
    return commit(output, ends_in(path, ".md") ? prune_report_markdown(prune, how.text, stream)
                                               : prune_report_svg(prune, how.text, stream));
}

static int write_sparsities(const char *path, const struct prune_model *prune)
{
    struct output *output;
    const int code = output_open(path, &output);
    if (code)
        return code;
    prune_targets_write(prune, output_stream(output));
    return output_commit(&output);
}

static void say_result(const struct prune_request *r, const struct prune_model *prune)
{
    int64_t weights = 0, zeros = 0;
    for (size_t i = 0; i < prune->count; i++) {
        weights += prune_layer_size(&prune->layers[i]);
        zeros += prune_layer_zeros(&prune->layers[i]);
    }
    fprintf(strcmp(r->output, "-") == 0 ? stderr : stdout,
            "%s: %" PRId64 " of %" PRId64 " weights of %zu layers are zero (%.4f)\n", r->output,
            zeros, weights, prune->count, (double)zeros / (double)weights);
}

static int prune_layers(const struct prune_request *r, struct prune_model *prune)
{
    int code = r->layer_sparsity ? prune_targets_read(r->layer_sparsity, prune) : EXIT_DONE;
    if (code)
        return code;
    return r->is_global ? prune_together(&r->method, (uint64_t)r->seed, r->sparsity, prune->layers,
                                         prune->count)
                        : prune_each(&r->method, (uint64_t)r->seed, prune->layers, prune->count);
}

static int write_all(const struct prune_request *r, const struct model_format *format,
                     struct prune_model *prune)
{
    int code = prune_model_finish(prune, r->is_csr);
    if (!code)
        code = write_model(r, prune->model, format);
    if (!code && r->sparsities_out)
        code = write_sparsities(r->sparsities_out, prune);
    for (size_t i = 0; i < r->reports.count && !code; i++)
        code = write_report(r, r->reports.items[i], prune);
    return code;
}

static int prune_read(const struct prune_request *r, struct model *model)
{
    const double sparsity = r->method.kind == PRUNE_NM ? 0.0 : r->sparsity;
    const struct model_format *format;
    struct prune_model prune;
    int code = choose_format(r, model, &format);
    if (!code)
        code = check_reports(r);
    if (!code)
        code = check_outputs(r);
    if (!code)
        code = prune_model_make(model, r->input_shape, &r->excluded, sparsity, &prune);
    if (code)
        return code;
    code = prune_layers(r, &prune);
    if (!code)
        code = write_all(r, format, &prune);
    if (!code)
        say_result(r, &prune);
    prune_model_free(&prune);
    return code;
}

int prune_model_file(const struct prune_request *request, struct file *file)
{
    struct model model;
    int code = check_request(request);
    if (!code)
        code = model_read_begun(request->input, file, &model);
    if (code)
        return code;
    code = prune_read(request, &model);
    model_free(&model);
    return code;
}
