/* csrconv prune: zeroes weights of a file, and writes the file again without them. */
#include "command.h"
#include "complain.h"
#include "model/model.h"
#include "options.h"
#include "prune/request.h"

#include <string.h>

static const char help[] =
    "usage: csrconv prune --input FILE|MODEL --output FILE --sparsity P [OPTION ...]\n"
    "\n"
    "Zeroes weights until a fraction P of them is zero, those that are zero already counted. Of a\n"
    "model these are the weights of its convolutions; the rest is written as it was, to the byte.\n"
    "\n"
    "  --input FILE          npy, npz (scipy CSR) or Matrix Market; or an ONNX or safetensors "
    "model\n"
    "  --output FILE         weights: format by extension, .npy, .npz (scipy CSR), .mtx, - is "
    "npy;\n"
    "                        of a model: the same format, or .safetensors of any\n"
    "  --sparsity P          0 <= P < 1\n"
    "  --method magnitude    the smallest, of equal ones the first (this if none is given)\n"
    "           random       any; --seed N (0)\n"
    "           nm:N:M       all but the N largest of every M consecutive channels; no --sparsity\n"
    "           kernel       whole R x S kernels, by their mean magnitude\n"
    "           vector:V     blocks of V consecutive filters at one channel and position, "
    "likewise\n"
    "\n"
    "Of a model:\n"
    "  --scope layer|global  P in each layer, or in all together (layer)\n"
    "  --exclude NAME[,NAME] leave these convolutions alone; a name is the node's or the weights'\n"
    "  --layer-sparsity F.csv        sparsities of some layers: columns layer and sparsity\n"
    "  --sparsities-out F.csv        write what the layers have in the end\n"
    "  --report F.md[,F.svg]         nonzeros, filters and FLOP of each layer; a chart of them\n"
    "  --csr                 store the pruned weights as CSR (to .safetensors)\n"
    "  --input-shape N,C,H,W | NAME:N,C,H,W[;...]    for the FLOP, if the model does not tell it\n"
    "\n"
    "examples:\n"
    "  csrconv prune --input dense.npy --output pruned.npz --sparsity 0.9\n"
    "  csrconv prune --input dense.npy --output pruned.npy --sparsity 0.5 --method random --seed "
    "7\n"
    "  csrconv prune --input net.onnx --output net90.onnx --sparsity 0.9 --scope global --report "
    "net90.md\n"
    "  csrconv prune --input net.safetensors --output net.csr.safetensors --sparsity 0.8 --csr\n";

static int check(struct prune_request *r, const char *scope)
{
    if (!r->input || !r->output)
        return complain(EXIT_BAD, "prune", "needs --input, --output and --sparsity");
    r->is_global = strcmp(scope, "global") == 0;
    if (!r->is_global && strcmp(scope, "layer") != 0)
        return complain(EXIT_BAD, "--scope", "\"%s\" is not layer or global", scope);
    return prune_method_parse(r->method_text, &r->method);
}

static int parse(int argc, char **argv, struct prune_request *r)
{
    const char *scope = "layer";
    const struct option_spec specs[] = {
        { .name = "input", .kind = OPTION_TEXT, .value = &r->input },
        { .name = "output", .kind = OPTION_TEXT, .value = &r->output },
        { .name = "method", .kind = OPTION_TEXT, .value = &r->method_text },
        { .name = "scope", .kind = OPTION_TEXT, .value = &scope },
        { .name = "sparsity",
          .kind = OPTION_REAL,
          .value = &r->sparsity,
          .low = 0.0,
          .below = 1.0 },
        { .name = "seed", .kind = OPTION_WHOLE, .value = &r->seed, .least = 0, .most = INT64_MAX },
        { .name = "exclude", .kind = OPTION_TEXTS, .value = &r->excluded },
        { .name = "layer-sparsity", .kind = OPTION_TEXT, .value = &r->layer_sparsity },
        { .name = "sparsities-out", .kind = OPTION_TEXT, .value = &r->sparsities_out },
        { .name = "report", .kind = OPTION_TEXTS, .value = &r->reports },
        { .name = "csr", .kind = OPTION_FLAG, .value = &r->is_csr },
        { .name = "input-shape", .kind = OPTION_TEXT, .value = &r->input_shape },
        { 0 },
    };
    const int code = options_parse(&command_prune, specs, argc, argv, NULL);
    return code ? code : check(r, scope);
}

static int prune(const struct prune_request *request)
{
    struct file file;
    int code = file_begin(request->input, &file);
    if (!code)
        code = model_format_of(file.data, file.size) ? prune_model_file(request, &file)
                                                     : prune_weights_file(request, &file);
    file_free(&file);
    return code;
}

static int run(int argc, char **argv)
{
    struct prune_request request = { .method_text = "magnitude", .sparsity = -1.0 };
    int code = parse(argc, argv, &request);
    if (!code)
        code = prune(&request);
    text_list_free(&request.excluded);
    text_list_free(&request.reports);
    return code;
}

const struct command command_prune = {
    .name = "prune",
    .summary = "zero the smallest weights, or others, of a file or a model",
    .help = help,
    .run = run,
};
