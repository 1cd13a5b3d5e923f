#include "svg_draw.h"

#include "text.h"

#include <math.h>
#include <string.h>

/*
 * Twelve hues that stay apart for people with colour-blindness as far as twelve can (the first
 * eight after Okabe and Ito).
 */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                       "#e69f00", "#56b4e9", "#7f7f7f", "#b8a700",
                                       "#6a3d9a", "#8c2d04", "#1b7837", "#a50f5b" };

static const char styles[] =
    "<style>\n"
    "text { font-family: Helvetica, Arial, 'Liberation Sans', sans-serif; font-size: 12px; "
    "fill: #222; }\n"
    ".title { font-size: 18px; font-weight: bold; }\n"
    ".label { font-weight: bold; }\n"
    ".tick, .caption { font-size: 11px; fill: #555; }\n"
    ".value { font-size: 11px; }\n"
    ".grid { stroke: #e2e2e2; stroke-width: 1; }\n"
    ".one { stroke: #222; stroke-width: 1.2; stroke-dasharray: 4 3; }\n"
    ".curve { fill: none; stroke-width: 2; }\n"
    ".dense { stroke-dasharray: 7 4; }\n"
    ".range { stroke: #222; stroke-width: 1.5; }\n"
    "</style>\n";

void svg_open(FILE *stream, double width, double height)
{
    const struct svg svg = { .stream = stream };
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n%s",
            width, height, width, height, styles);
    svg_rectangle(&svg, 0.0, 0.0, width, height, "#ffffff");
}

static void add_algorithm(struct svg *svg, const struct result *result)
{
    if (result->status != RESULT_MEASURED || svg->algorithm_count == SVG_ALGORITHMS)
        return;
    for (size_t i = 0; i < svg->algorithm_count; i++)
        if (strcmp(svg->algorithms[i], result->measurement.algorithm) == 0)
            return;
    svg->is_dense[svg->algorithm_count] = result->is_dense;
    svg->algorithms[svg->algorithm_count++] = result->measurement.algorithm;
}

struct svg svg_start(const struct analysis *analysis, const struct report *report, FILE *stream)
{
    struct svg svg = { .stream = stream, .report = report, .analysis = analysis };
    for (size_t i = 0; i < report->count; i++)
        add_algorithm(&svg, &report->results[i]);
    return svg;
}

const char *svg_colour(const struct svg *svg, const char *algorithm)
{
    for (size_t i = 0; i < svg->algorithm_count; i++)
        if (strcmp(svg->algorithms[i], algorithm) == 0)
            return colours[i % (sizeof colours / sizeof colours[0])];
    return "#7f7f7f";
}

static void write_escaped(FILE *stream, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        switch (text[i]) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        default:
            fputc(text[i], stream);
        }
    }
}

static void open_text(const struct svg *svg, double x, double y, enum svg_anchor anchor,
                      const char *style)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    fprintf(svg->stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", style, x,
            y, anchors[anchor]);
}

void svg_text(const struct svg *svg, double x, double y, enum svg_anchor anchor, const char *style,
              const char *text)
{
    open_text(svg, x, y, anchor, style);
    write_escaped(svg->stream, text, strlen(text));
    fputs("</text>\n", svg->stream);
}

void svg_text_cut(const struct svg *svg, double x, double y, enum svg_anchor anchor,
                  const char *style, double pixels, const char *text)
{
    /* A letter of the usual sans-serif fonts is 0.6 em wide in the mean, here of 12 pixels. */
    const size_t width = (size_t)(pixels / 7.2);
    if (text_width(text) <= width) {
        svg_text(svg, x, y, anchor, style, text);
        return;
    }
    open_text(svg, x, y, anchor, style);
    fputs("<title>", svg->stream);
    write_escaped(svg->stream, text, strlen(text));
    fputs("</title>", svg->stream);
    write_escaped(svg->stream, text, text_cut(text, width > 3 ? width - 3 : 0));
    fputs("...</text>\n", svg->stream);
}

void svg_line(const struct svg *svg, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(svg->stream, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            style, x1, y1, x2, y2);
}

void svg_rectangle(const struct svg *svg, double x, double y, double width, double height,
                   const char *colour)
{
    fprintf(svg->stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
            width, height, colour);
}

double svg_step(double range, double least)
{
    const double raw = range / least;
    const double power = pow(10.0, floor(log10(raw)));
    return power * (raw >= 5.0 * power ? 5.0 : raw >= 2.0 * power ? 2.0 : 1.0);
}
