/*
 * One chart as a picture of its own. Of one sparsity per layer: bars of the speed-up; of several:
 * time against sparsity.
 */
#include "report_format.h"

#include "../complain.h"
#include "svg_parts.h"
#include "text.h"

#include <stdlib.h>

enum { LEGEND_ROW = 20, LEGEND_COLUMN = 182, LEGEND_COLUMNS = 5, HEAD = 64, FOOT = 40 };

/* Bars unless some series has several sparsities. */
static int has_sweep(const struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->series_count; i++)
        if (analysis->series[i].count > 1)
            return 1;
    return 0;
}

static double legend_height(const struct svg *svg)
{
    const size_t rows = (svg->algorithm_count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
    return (double)(rows * LEGEND_ROW + LEGEND_ROW / 2);
}

static void draw_legend(const struct svg *svg, double top)
{
    for (size_t i = 0; i < svg->algorithm_count; i++) {
        const double x = SVG_MARGIN + (double)(i % LEGEND_COLUMNS * LEGEND_COLUMN);
        const double y = top + (double)(i / LEGEND_COLUMNS * LEGEND_ROW);
        svg_rectangle(svg, x, y, 14.0, 12.0, svg_colour(svg, svg->algorithms[i]));
        svg_text_cut(svg, x + 20.0, y + 10.5, SVG_START, "legend", LEGEND_COLUMN - 26.0,
                     svg->algorithms[i]);
    }
}

static void draw_caption(const struct svg *svg, double y, int is_sweep)
{
    const struct measurement *const first = &svg->report->results[0].measurement;
    char *const caption =
        text_format("%s%s%s; csrconv %s%s%s; %.10s; medians of verified runs; %s", first->machine,
                    *first->driver ? ", driver " : "", first->driver, first->version,
                    *first->commit ? ", commit " : "", first->commit, svg->report->date,
                    is_sweep ? "dashed: dense" : "*: the automatic choice");
    svg_text_cut(svg, SVG_MARGIN, y, SVG_START, "caption", SVG_WIDTH * 1.08,
                 caption ? caption : "");
    free(caption);
}

static void draw(const struct svg *svg)
{
    const int is_sweep = has_sweep(svg->analysis);
    const double top = HEAD + legend_height(svg);
    const double bottom = top + (is_sweep ? svg_lines_height(svg) : svg_bars_height(svg));
    svg_open(svg->stream, SVG_WIDTH, bottom + FOOT);
    svg_text(svg, SVG_MARGIN, 34.0, SVG_START, "title",
             is_sweep ? "Convolution with pruned weights: time against sparsity"
                      : "Convolution with pruned weights: speed-up over dense");
    draw_legend(svg, HEAD - 8.0);
    if (is_sweep)
        svg_lines(svg, top);
    else
        svg_bars(svg, top);
    draw_caption(svg, bottom + FOOT - 14.0, is_sweep);
    fputs("</svg>\n", svg->stream);
}

static int write_svg(const struct report *report, FILE *stream)
{
    struct analysis analysis;
    int code = analyse(report, &analysis);
    if (code == EXIT_DONE && report->count == 0)
        code = complain(EXIT_WRONG, "svg", "there is no result to draw");
    if (code == EXIT_DONE) {
        const struct svg svg = svg_start(&analysis, report, stream);
        draw(&svg);
    }
    analysis_free(&analysis);
    return code;
}

const struct report_format report_format_svg = { "svg", write_svg };
