/* csrconv prune of one layer's weights. */
#include "prune/request.h"

#include "complain.h"
#include "format/format.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int check_request(const struct prune_request *r)
{
    const char *const of_model = r->is_global        ? "--scope global"
                                 : r->excluded.count ? "--exclude"
                                 : r->layer_sparsity ? "--layer-sparsity"
                                 : r->sparsities_out ? "--sparsities-out"
                                 : r->reports.count  ? "--report"
                                 : r->input_shape    ? "--input-shape"
                                 : r->is_csr         ? "--csr"
                                                     : NULL;
    if (of_model)
        return complain(EXIT_BAD, of_model, "needs a model file, %s holds one layer", r->input);
    if (r->method.kind == PRUNE_NM && r->sparsity >= 0.0)
        return complain(EXIT_BAD, "--method", "nm:N:M says how many stay: it takes no sparsity");
    if (r->method.kind != PRUNE_NM && r->sparsity < 0.0)
        return complain(EXIT_BAD, "prune", "needs --sparsity");
    return EXIT_DONE;
}

/* The weights as an array: of a sparse file its zeros count too. */
static int read_dense(const char *path, struct file *file, struct tensor *dense)
{
    struct tensor read;
    int code = format_read_begun(path, file, &read);
    memset(dense, 0, sizeof *dense);
    if (code)
        return code;
    if (read.note[0])
        fprintf(stderr, "%s: %s\n", path, read.note);
    if (read.kind == TENSOR_DENSE) {
        *dense = read;
        return EXIT_DONE;
    }
    if (!read.values)
        code = complain(EXIT_BAD, path, "holds a pattern without values: nothing to prune");
    if (!code)
        code = tensor_to_dense(path, &read, dense);
    tensor_free(&read);
    return code;
}

static int prune(const struct prune_request *r, struct tensor *t)
{
    const bool is_oihw = t->rank == 4;
    const bool needs_oihw = r->method.kind != PRUNE_MAGNITUDE && r->method.kind != PRUNE_RANDOM;
    if (needs_oihw && !is_oihw)
        return complain(EXIT_BAD, r->input, "--method %s needs a 4-D array (OIHW)", r->method_text);
    if (!tensor_count(t)) /* whose sizes may be any, and have no product */
        return EXIT_DONE;
    struct prune_layer layer = {
        .name = r->input,
        .weights = t->values,
        .filters = is_oihw ? t->dims[0] : tensor_count(t),
        .channels = is_oihw ? t->dims[1] : 1,
        .positions = is_oihw ? t->dims[2] * t->dims[3] : 1,
        .sparsity = r->method.kind == PRUNE_NM ? 0.0 : r->sparsity,
    };
    return prune_each(&r->method, (uint64_t)r->seed, &layer, 1);
}

static int write_pruned(const char *path, const struct tensor *t)
{
    const struct format *format = format_named("npy");
    struct output *output;
    int code = strcmp(path, "-") == 0 ? EXIT_DONE : format_for_output(path, &format);
    if (!code)
        code = output_open(path, &output);
    if (code)
        return code;
    code = format_write(format, path, t, output_stream(output));
    if (!code)
        return output_commit(&output);
    output_abandon(&output);
    return code;
}

static void say_result(const struct prune_request *r, const struct tensor *t)
{
    const int64_t count = tensor_count(t);
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; i++)
        zeros += t->values[i] == 0.0F;
    fprintf(strcmp(r->output, "-") == 0 ? stderr : stdout,
            "%s: %" PRId64 " of %" PRId64 " weights are zero (%.4f)\n", r->output, zeros, count,
            count ? (double)zeros / (double)count : 0.0);
}

int prune_weights_file(const struct prune_request *request, struct file *file)
{
    struct tensor tensor = { 0 };
    int code = check_request(request);
    if (!code)
        code = read_dense(request->input, file, &tensor);
    if (!code)
        code = prune(request, &tensor);
    if (!code)
        code = write_pruned(request->output, &tensor);
    if (!code)
        say_result(request, &tensor);
    tensor_free(&tensor);
    return code;
}
