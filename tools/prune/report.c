#include "prune/report.h"

#include "complain.h"
#include "report/markdown.h"
#include "report/svg_parts.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>

/* Output pixels of an image by tensor of weights, over all convolutions that have it; 0: unknown.
 */
static double *count_pixels(const struct prune_model *prune)
{
    const struct convolution_list *const list = &prune->convolutions;
    double *const pixels = calloc(prune->model->tensor_count + 1, sizeof *pixels);
    for (size_t i = 0; pixels && i < list->count; i++)
        if (list->items[i].has_geometry)
            pixels[list->items[i].weights] +=
                (double)list->items[i].out_h * (double)list->items[i].out_w;
    return pixels;
}

static double mega_flop(double pixels, int64_t nonzeros)
{
    return 2e-6 * pixels * (double)nonzeros;
}

struct totals {
    int64_t weights, before, after;
    double dense, flop_before, flop_after;
};

static void add_totals(struct totals *t, double pixels, const struct filter_statistics *before,
                       const struct filter_statistics *after)
{
    t->weights += after->weights;
    t->before += before->nonzeros;
    t->after += after->nonzeros;
    t->dense += mega_flop(pixels, after->weights);
    t->flop_before += mega_flop(pixels, before->nonzeros);
    t->flop_after += mega_flop(pixels, after->nonzeros);
}

static void put_flop(FILE *stream, double mega)
{
    if (mega > 0.0)
        markdown_cell(stream, "%.4g", mega);
    else
        markdown_cell(stream, "-");
}

static void put_row(FILE *stream, const struct prune_model *prune, size_t layer, double pixels,
                    const struct filter_statistics *after)
{
    const struct filter_statistics *const before = &prune->before[layer];
    const struct convolution *const c = &prune->convolutions.items[prune->convolution[layer]];
    const struct model_tensor *const tensor = &prune->model->tensors[c->weights];
    char shape[TENSOR_SHAPE_TEXT];
    markdown_cell(stream, "%s", text_shown(c->name).text);
    markdown_cell(stream, "%s", tensor_shape_text(tensor->rank, tensor->dims, shape));
    markdown_cell(stream, "%" PRId64, before->nonzeros);
    markdown_cell(stream, "%" PRId64, after->nonzeros);
    markdown_cell(stream, "%.4f", filter_sparsity(after));
    markdown_cell(stream, "%" PRId64 " / %" PRId64 " / %" PRId64, after->least, after->median,
                  after->most);
    markdown_cell(stream, "%" PRId64, after->empty);
    put_flop(stream, mega_flop(pixels, before->nonzeros));
    put_flop(stream, mega_flop(pixels, after->nonzeros));
    markdown_end_row(stream);
}

static void put_head(FILE *stream, const struct prune_model *prune, const char *how)
{
    static const char *const headings[] = {
        "layer",         "weights",      "nonzeros before",
        "after",         "sparsity",     "of a filter: least / median / most",
        "empty filters", "MFLOP before", "after"
    };
    enum { HEADINGS = sizeof headings / sizeof *headings };
    fprintf(stream, "# Pruned: %s\n\n%s.\n\n", text_shown(prune->model->path).text, how);
    for (int i = 0; i < HEADINGS; i++)
        markdown_cell(stream, "%s", headings[i]);
    markdown_end_row(stream);
    markdown_rule(stream, 2, HEADINGS - 2);
}

static void put_totals(FILE *stream, const struct totals *t)
{
    fprintf(stream,
            "\nIn all %" PRId64 " of %" PRId64 " weights are left (%" PRId64
            " before): sparsity %.4f.\n",
            t->after, t->weights, t->before,
            t->weights ? 1.0 - (double)t->after / (double)t->weights : 0.0);
    if (t->dense > 0.0)
        fprintf(stream,
                "A multiply-add is two FLOP. Of one image, the convolutions here take %.4g MFLOP "
                "dense; over the nonzeros %.4g before and %.4g now.\n",
                t->dense, t->flop_before, t->flop_after);
    else
        fputs("The FLOP are not known, since the sizes of the images are not.\n", stream);
}

static int put_rows(FILE *stream, const struct prune_model *prune, const double *pixels,
                    struct totals *totals)
{
    for (size_t i = 0; i < prune->count; i++) {
        const double here = pixels[prune->convolutions.items[prune->convolution[i]].weights];
        struct filter_statistics after;
        const int code = prune_model_statistics(prune, i, &after);
        if (code)
            return code;
        put_row(stream, prune, i, here, &after);
        add_totals(totals, here, &prune->before[i], &after);
    }
    return EXIT_DONE;
}

int prune_report_markdown(const struct prune_model *prune, const char *how, FILE *stream)
{
    struct totals totals = { 0 };
    double *const pixels = count_pixels(prune);
    if (!pixels)
        return complain(EXIT_WRONG, prune->model->path, "out of memory");
    put_head(stream, prune, how);
    const int code = put_rows(stream, prune, pixels, &totals);
    put_totals(stream, &totals);
    free(pixels);
    return code;
}

enum { HEAD = 84, ROW = 26, BAR = 12, LABEL = 250, VALUE = 110, AXIS = 50 };

static const double left = SVG_MARGIN + LABEL;
static const double width = SVG_WIDTH - 2 * SVG_MARGIN - LABEL - VALUE;

static void draw_axis(const struct svg *svg, double top, double bottom)
{
    for (int tenth = 0; tenth <= 10; tenth += 2) {
        const double x = left + width * tenth / 10.0;
        char label[16];
        snprintf(label, sizeof label, "%d %%", 10 * tenth);
        svg_line(svg, x, top, x, bottom, "grid");
        svg_text(svg, x, bottom + 16.0, SVG_MIDDLE, "tick", label);
    }
    svg_text(svg, left + width / 2.0, bottom + 36.0, SVG_MIDDLE, "axis",
             "weights that are left; the line goes from the emptiest filter to the fullest, across "
             "at the median");
}

static void draw_row(const struct svg *svg, double y, const char *name,
                     const struct filter_statistics *s)
{
    const double of_layer = width / (double)s->weights;
    const double of_filter = of_layer * (double)s->filters;
    const double middle = y + BAR / 2.0, median = left + of_filter * (double)s->median;
    char value[64];
    snprintf(value, sizeof value, "%" PRId64 " (%.1f %%)", s->nonzeros,
             100.0 * (1.0 - filter_sparsity(s)));
    svg_text_cut(svg, left - 10.0, y + BAR - 2.0, SVG_END, "label", LABEL - 14.0, name);
    svg_rectangle(svg, left, y, of_layer * (double)s->nonzeros, BAR, "#56b4e9");
    svg_line(svg, left + of_filter * (double)s->least, middle, left + of_filter * (double)s->most,
             middle, "range");
    svg_line(svg, median, y, median, y + BAR, "range");
    svg_text(svg, left + width + 8.0, y + BAR - 2.0, SVG_START, "value", value);
}

int prune_report_svg(const struct prune_model *prune, const char *how, FILE *stream)
{
    const struct svg svg = { .stream = stream };
    const double bottom = HEAD + (double)(prune->count * ROW);
    char *const title = text_format("Nonzeros of %s", text_shown(prune->model->path).text);
    svg_open(stream, SVG_WIDTH, bottom + AXIS);
    svg_text_cut(&svg, SVG_MARGIN, 34.0, SVG_START, "title", SVG_WIDTH * 0.7,
                 title ? title : "Nonzeros");
    svg_text(&svg, SVG_MARGIN, 56.0, SVG_START, "caption", how);
    draw_axis(&svg, HEAD - 8.0, bottom);
    free(title);
    for (size_t i = 0; i < prune->count; i++) {
        struct filter_statistics after;
        const int code = prune_model_statistics(prune, i, &after);
        if (code)
            return code;
        draw_row(&svg, HEAD + (double)(i * ROW), text_shown(prune->layers[i].name).text, &after);
    }
    fputs("</svg>\n", stream);
    return EXIT_DONE;
}
