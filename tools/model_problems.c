#include "model_problems.h"

#include "complain.h"
#include "model/convolutions.h"
#include "report/text.h"
#include "selection.h"
#include "weights_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "net:conv1" of "models/net.onnx". */
static void name_problem(const char *path, const char *convolution, struct problem *problem)
{
    const char *const slash = strrchr(path, '/');
    const char *const file = slash ? slash + 1 : path;
    const char *const dot = strrchr(file, '.');
    const int length = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
    snprintf(problem->name, sizeof problem->name, "%.*s:%.*s", length < 40 ? length : 40, file,
             (int)sizeof problem->name - 42, convolution);
    text_clean(problem->name);
}

/* The digest of the weights, as the same ones of any other file have it. */
static int digest_of(const csrconv_geometry *g, const float *oihw, char digest[32])
{
    csrconv_weights *weights;
    csrconv_csr view;
    const csrconv_status status = csrconv_weights_from_dense(
        oihw, g->filters, g->channels / g->groups, g->kernel_h, g->kernel_w, NULL, &weights);
    if (status)
        return selection_complain("weights", status);
    csrconv_csr_init(&view);
    csrconv_weights_view(weights, &view);
    weights_digest(&view, digest);
    csrconv_weights_destroy(&weights);
    return EXIT_DONE;
}

static int add(const struct model *model, const struct convolution *c, bool folds,
               struct problem_list *list)
{
    struct problem problem = { .geometry = c->geometry,
                               .batch_default = c->geometry.batch,
                               .sparsity = -1.0 };
    char digest[32];
    float *weights, *bias;
    name_problem(model->path, c->name, &problem);
    int code = convolution_weights(model, c, folds, &weights, &bias);
    if (!code)
        code = digest_of(&c->geometry, weights, digest);
    if (!code)
        code = problem_list_add(list, &problem);
    if (!code)
        code = problem_set_weights(&list->items[list->count - 1], weights, digest);
    free(weights);
    free(bias);
    return code;
}

static int add_all(const struct model *model, const struct convolution_list *convolutions,
                   bool folds, struct problem_list *list)
{
    size_t unknown = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; i < convolutions->count && !code; i++) {
        if (convolutions->items[i].has_geometry)
            code = add(model, &convolutions->items[i], folds, list);
        else
            unknown++;
    }
    if (code)
        return code;
    if (!convolutions->count)
        return complain(EXIT_BAD, model->path, "has no convolution whose weights are constant");
    if (unknown == convolutions->count)
        return complain(EXIT_BAD, model->path,
                        "the input sizes of its convolutions are not known: %s", convolutions->why);
    if (unknown)
        fprintf(stderr,
                "warning: %zu of %zu convolutions are left out, their input sizes are not known: "
                "%s\n",
                unknown, convolutions->count, convolutions->why);
    return EXIT_DONE;
}

static int read_model(const char *path, struct model *out)
{
    struct file file;
    int code = file_begin(path, &file);
    if (!code && !model_format_of(file.data, file.size))
        code = complain(EXIT_BAD, path,
                        "is a file, so it is taken as a model, but it is neither ONNX nor "
                        "safetensors; a list of problems is given as @FILE");
    if (!code)
        code = model_read_begun(path, &file, out);
    file_free(&file);
    return code;
}

int model_problems(const char *path, const char *input_shape, bool folds, struct problem_list *list)
{
    struct convolution_list convolutions;
    struct model model;
    int code = read_model(path, &model);
    if (code)
        return code;
    code = convolutions_of(&model, input_shape, &convolutions);
    if (!code) {
        code = add_all(&model, &convolutions, folds, list);
        convolution_list_free(&convolutions);
    }
    model_free(&model);
    return code;
}
