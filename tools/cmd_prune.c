/* csrconv prune: zeroes weights of a file, and writes them in the format that its name asks for. */
#include "command.h"
#include "complain.h"
#include "csrconv.h"
#include "format/format.h"
#include "options.h"
#include "output.h"
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: csrconv prune --input FILE --output FILE --sparsity P [OPTION ...]\n"
    "\n"
    "Zeroes weights until a fraction P of them is zero, those that are zero already counted.\n"
    "\n"
    "  --input FILE          npy, npz (scipy CSR) or Matrix Market\n"
    "  --output FILE         format by extension: .npy, .npz (scipy CSR), .mtx; - is npy on "
    "standard\n"
    "                        output\n"
    "  --sparsity P          0 <= P < 1\n"
    "  --method magnitude|random     the smallest, of equal ones the first; or any (magnitude)\n"
    "  --scope layer|global  global needs a model file (layer)\n"
    "  --seed N              of random (0)\n"
    "\n"
    "examples:\n"
    "  csrconv prune --input dense.npy --output pruned.npz --sparsity 0.9\n"
    "  csrconv prune --input dense.npy --output pruned.npy --sparsity 0.5 --method random --seed "
    "7\n";

struct prune_options {
    const char *input, *output, *method, *scope;
    double sparsity;
    int64_t seed;
};

static int parse(int argc, char **argv, struct prune_options *o)
{
    const struct option_spec specs[] = {
        { .name = "input", .kind = OPTION_TEXT, .value = &o->input },
        { .name = "output", .kind = OPTION_TEXT, .value = &o->output },
        { .name = "method", .kind = OPTION_TEXT, .value = &o->method },
        { .name = "scope", .kind = OPTION_TEXT, .value = &o->scope },
        { .name = "sparsity",
          .kind = OPTION_REAL,
          .value = &o->sparsity,
          .low = 0.0,
          .below = 1.0 },
        { .name = "seed", .kind = OPTION_WHOLE, .value = &o->seed, .least = 0, .most = INT64_MAX },
        { 0 },
    };
    const int code = options_parse(&command_prune, specs, argc, argv, NULL);
    if (code)
        return code;
    if (!o->input || !o->output || o->sparsity < 0.0)
        return complain(EXIT_BAD, "prune", "needs --input, --output and --sparsity");
    if (strcmp(o->method, "magnitude") != 0 && strcmp(o->method, "random") != 0)
        return complain(EXIT_BAD, "--method", "\"%s\" is not magnitude or random", o->method);
    if (strcmp(o->scope, "global") == 0)
        return complain(EXIT_BAD, "--scope", "global needs a model file, %s holds one layer",
                        o->input);
    if (strcmp(o->scope, "layer") != 0)
        return complain(EXIT_BAD, "--scope", "\"%s\" is not layer or global", o->scope);
    return EXIT_DONE;
}

/* The weights as an array: of a sparse file its zeros count too. */
static int read_dense(const char *path, struct tensor *dense)
{
    struct tensor read;
    int code = format_read(path, &read);
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

static int prune(const struct prune_options *o, struct tensor *t)
{
    const int64_t count = tensor_count(t);
    const csrconv_status status =
        strcmp(o->method, "random") == 0
            ? csrconv_prune_random(t->values, count, o->sparsity, (uint64_t)o->seed)
            : csrconv_prune_magnitude(t->values, count, o->sparsity);
    return status ? selection_complain(o->input, status) : EXIT_DONE;
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

static void say_result(const struct prune_options *o, const struct tensor *t)
{
    const int64_t count = tensor_count(t);
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; i++)
        zeros += t->values[i] == 0.0F;
    fprintf(strcmp(o->output, "-") == 0 ? stderr : stdout,
            "%s: %" PRId64 " of %" PRId64 " weights are zero (%.4f)\n", o->output, zeros, count,
            count ? (double)zeros / (double)count : 0.0);
}

static int run(int argc, char **argv)
{
    struct prune_options options = { .method = "magnitude", .scope = "layer", .sparsity = -1.0 };
    struct tensor tensor = { 0 };
    int code = parse(argc, argv, &options);
    if (!code)
        code = read_dense(options.input, &tensor);
    if (!code)
        code = prune(&options, &tensor);
    if (!code)
        code = write_pruned(options.output, &tensor);
    if (!code)
        say_result(&options, &tensor);
    tensor_free(&tensor);
    return code;
}

const struct command command_prune = {
    .name = "prune",
    .summary = "zero the smallest weights, or random ones, of a file",
    .help = help,
    .run = run,
};
