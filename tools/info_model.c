#include "info_model.h"

#include "complain.h"
#include "filter_statistics.h"
#include "model/convolutions.h"
#include "problem/problem.h"
#include "report/text.h"
#include "report/text_grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void show_inputs(const struct model *model)
{
    for (size_t i = 0; i < model->input_count; i++) {
        const struct model_input *const input = &model->inputs[i];
        printf("%s %s (", i ? "," : "input", text_shown(model->values[input->value].name).text);
        for (int d = 0; d < input->shape.rank; d++) {
            if (input->shape.dims[d] < 0)
                printf("%s?", d ? ", " : "");
            else
                printf("%s%" PRId64, d ? ", " : "", input->shape.dims[d]);
        }
        printf("%s)", input->shape.rank < 0 ? "size not declared" : "");
    }
    printf("%s", model->input_count ? "\n" : "");
}

static void show_head(const struct model *model)
{
    int64_t elements = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        if (__builtin_add_overflow(elements, model->tensors[i].count, &elements))
            elements = INT64_MAX;
    printf("%s: %s", model->path, model->format->name);
    if (model->has_graph)
        printf(", opset %" PRId64 ", IR version %" PRId64 ", made by %s, %zu nodes", model->opset,
               model->ir_version, *model->producer ? text_shown(model->producer).text : "?",
               model->node_count);
    printf(", %zu tensors of %" PRId64 " elements\n", model->tensor_count, elements);
    show_inputs(model);
}

/* What all convolutions come to. */
struct sums {
    int64_t weights, nonzeros;
    double dense_products, products; /* of one image, where the sizes are known */
    bool has_unknown;
};

static int add_row(const struct model *model, const struct convolution *c, struct text_grid *grid,
                   struct sums *sums)
{
    const struct model_tensor *const tensor = &model->tensors[c->weights];
    struct filter_statistics s;
    char text[PROBLEM_TEXT_SIZE];
    float *values;
    int code = model_floats(model, tensor, &values);
    if (!code)
        code = filter_statistics_dense(model->path, values, c->geometry.filters,
                                       tensor->count / c->geometry.filters, &s);
    free(values);
    if (code)
        return code;
    sums->weights += s.weights;
    sums->nonzeros += s.nonzeros;
    sums->has_unknown = sums->has_unknown || !c->has_geometry;
    sums->dense_products += (double)s.weights * (double)(c->out_h * c->out_w);
    sums->products += (double)s.nonzeros * (double)(c->out_h * c->out_w);
    text_grid_add(grid, "%s", text_shown(c->name).text);
    text_grid_add(grid, "%s", tensor_shape_text(tensor->rank, tensor->dims, text));
    text_grid_add(grid, "%" PRId64, s.nonzeros);
    text_grid_add(grid, "%.4f", filter_sparsity(&s));
    text_grid_add(grid, "%" PRId64 " / %" PRId64 " / %" PRId64, s.least, s.median, s.most);
    if (c->has_geometry)
        problem_format(&c->geometry, text);
    text_grid_add(grid, "%s", c->has_geometry ? text : "input size not known");
    return EXIT_DONE;
}

static void show_sums(const struct model *model, const struct convolution_list *list,
                      const struct sums *sums)
{
    printf("%zu convolutions, %" PRId64 " nonzeros of %" PRId64 " weights, sparsity %.4f\n",
           list->count, sums->nonzeros, sums->weights,
           1.0 - (double)sums->nonzeros / (double)sums->weights);
    if (sums->has_unknown)
        printf("where the input size is not known: %s\n", list->why);
    else if (sums->nonzeros == sums->weights)
        printf("no weight is zero: \"csrconv bench %s --sparsity 0.9\" measures what pruning would "
               "gain here\n",
               model->path);
    else if (sums->products > 0.0)
        printf("sparse convolutions need 1/%.3g of the %.4g million multiply-adds of the dense "
               "ones; \"csrconv bench %s\" measures what that gains here\n",
               sums->dense_products / sums->products, sums->dense_products * 1e-6, model->path);
}

static int show_convolutions(const struct model *model, const struct convolution_list *list)
{
    struct text_grid grid = { 0 };
    struct sums sums = { 0 };
    int code = EXIT_DONE;
    text_grid_column(&grid, 'l', "convolution");
    text_grid_column(&grid, 'l', "weights");
    text_grid_column(&grid, 'r', "nonzeros");
    text_grid_column(&grid, 'r', "sparsity");
    text_grid_column(&grid, 'l', "a filter: least / median / most");
    text_grid_column(&grid, 'l', "problem");
    for (size_t i = 0; i < list->count && !code; i++)
        code = add_row(model, &list->items[i], &grid, &sums);
    const int print_code = text_grid_print(&grid, stdout);
    if (code || print_code)
        return code ? code : print_code;
    show_sums(model, list, &sums);
    return EXIT_DONE;
}

int info_model(const struct model *model, const char *input_shape)
{
    struct convolution_list list;
    int code = convolutions_of(model, input_shape, &list);
    if (code)
        return code;
    show_head(model);
    if (list.count)
        code = show_convolutions(model, &list);
    else
        printf("no convolutions\n");
    if (list.left_out)
        printf("%zu Conv nodes left out: not two-dimensional, or their weights or biases are not "
               "constant\n",
               list.left_out);
    convolution_list_free(&list);
    return code;
}
