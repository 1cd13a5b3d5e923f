#include "svg_parts.h"

#include "show.h"
#include "text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { GAP = 28, TITLE = 40, PLOT_HEIGHT = 250, AXIS = 54, Y_AXIS = 62 };

/* One panel, and how quantities map to it: percent to x, the logarithm of the time to y. */
struct panel {
    const struct svg *svg;
    const struct report_series *series;
    double left, top, width; /* of the plot */
    double low, high;        /* percent of zeros */
    double least, most;      /* us */
};

static size_t panel_columns(const struct svg *svg)
{
    return svg->analysis->series_count > 1 ? 2 : 1;
}

double svg_lines_height(const struct svg *svg)
{
    const size_t columns = panel_columns(svg);
    const size_t rows = (svg->analysis->series_count + columns - 1) / columns;
    return (double)(rows * (TITLE + PLOT_HEIGHT + AXIS));
}

static double x_of(const struct panel *panel, double percent)
{
    return panel->left + panel->width * (percent - panel->low) / (panel->high - panel->low);
}

static double y_of(const struct panel *panel, double time_us)
{
    const double part = log(time_us / panel->least) / log(panel->most / panel->least);
    return panel->top + PLOT_HEIGHT * (1.0 - part);
}

/* The ranges of the panel, with some room around what was measured. */
static void fit(struct panel *panel)
{
    const struct report_series *const series = panel->series;
    panel->low = 100.0 * series->cases[0]->key->sparsity;
    panel->high = 100.0 * series->cases[series->count - 1]->key->sparsity;
    const double margin = panel->high > panel->low ? 0.03 * (panel->high - panel->low) : 1.0;
    panel->low -= margin;
    panel->high += margin;
    panel->least = HUGE_VAL;
    for (size_t i = 0; i < series->count; i++)
        for (size_t j = 0; j < series->cases[i]->count; j++) {
            const struct result *const result = series->cases[i]->results[j];
            if (result->status != RESULT_MEASURED)
                continue;
            panel->least = fmin(panel->least, result->measurement.median_us);
            panel->most = fmax(panel->most, result->measurement.median_us);
        }
    if (panel->least > panel->most)
        panel->least = panel->most = 1.0;
    panel->least /= 1.25;
    panel->most *= 1.25;
}

static void draw_percents(const struct panel *panel)
{
    const double bottom = panel->top + PLOT_HEIGHT;
    const double step = svg_step(panel->high - panel->low, 5.0);
    for (double percent = ceil(panel->low / step) * step; percent <= panel->high; percent += step) {
        char label[32];
        snprintf(label, sizeof label, "%.4g %%", percent);
        svg_line(panel->svg, x_of(panel, percent), panel->top, x_of(panel, percent), bottom,
                 "grid");
        svg_text(panel->svg, x_of(panel, percent), bottom + 16.0, SVG_MIDDLE, "tick", label);
    }
    svg_text(panel->svg, panel->left + panel->width / 2.0, bottom + 34.0, SVG_MIDDLE, "axis",
             "sparsity (zeros of all weights)");
}

/* Ticks at 1, 2 and 5 times the powers of ten. */
static void draw_times(const struct panel *panel)
{
    static const double steps[] = { 1.0, 2.0, 5.0 };
    for (double power = pow(10.0, floor(log10(panel->least))); power <= panel->most; power *= 10.0)
        for (size_t i = 0; i < 3; i++) {
            const double time = power * steps[i];
            if (time < panel->least || time > panel->most)
                continue;
            char label[32];
            snprintf(label, sizeof label, "%g", time);
            svg_line(panel->svg, panel->left, y_of(panel, time), panel->left + panel->width,
                     y_of(panel, time), "grid");
            svg_text(panel->svg, panel->left - 6.0, y_of(panel, time) + 4.0, SVG_END, "tick",
                     label);
        }
    fprintf(panel->svg->stream, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">\n",
            panel->left - 46.0, panel->top + PLOT_HEIGHT / 2.0);
    svg_text(panel->svg, 0.0, 0.0, SVG_MIDDLE, "axis", "median time, us");
    fputs("</g>\n", panel->svg->stream);
}

struct point {
    double percent, time_us;
};

/* The measured point of an algorithm at the next case from *index on; false at the end. */
static bool next_point(const struct panel *panel, const char *algorithm, size_t *index,
                       struct point *point)
{
    while (*index < panel->series->count) {
        const struct report_case *const subject = panel->series->cases[(*index)++];
        const struct result *const result = case_result(subject, algorithm);
        if (!result)
            continue;
        point->percent = 100.0 * subject->key->sparsity;
        point->time_us = result->measurement.median_us;
        return true;
    }
    return false;
}

/*
 * Straight between the points in time, as the pay-off is interpolated, which is no straight line
 * where the axis is logarithmic: in pieces.
 */
static void draw_segment(const struct panel *panel, const struct point *from,
                         const struct point *to)
{
    enum { PIECES = 16 };
    for (int piece = 0; piece <= PIECES; piece++) {
        const double part = (double)piece / PIECES;
        fprintf(panel->svg->stream, "%.1f,%.1f ",
                x_of(panel, from->percent + part * (to->percent - from->percent)),
                y_of(panel, from->time_us + part * (to->time_us - from->time_us)));
    }
}

/* Dense ones are dashed, since their time does not depend on the sparsity. */
static void draw_algorithm(const struct panel *panel, size_t algorithm)
{
    const struct svg *const svg = panel->svg;
    const char *const name = svg->algorithms[algorithm];
    struct point from, to;
    size_t index = 0;
    fprintf(svg->stream, "<polyline class=\"%s\" stroke=\"%s\" points=\"",
            svg->is_dense[algorithm] ? "curve dense" : "curve", svg_colour(svg, name));
    if (next_point(panel, name, &index, &from))
        for (; next_point(panel, name, &index, &to); from = to)
            draw_segment(panel, &from, &to);
    fputs("\"/>\n", svg->stream);
    for (index = 0; next_point(panel, name, &index, &to);)
        fprintf(svg->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                x_of(panel, to.percent), y_of(panel, to.time_us), svg_colour(svg, name));
}

static void draw_payoff(const struct panel *panel)
{
    const struct payoff payoff = series_payoff(panel->series);
    if (payoff.kind != PAYOFF_FROM)
        return;
    const double x = x_of(panel, 100.0 * payoff.sparsity);
    const int is_right = x > panel->left + panel->width / 2.0;
    char label[48];
    snprintf(label, sizeof label, "pays from %.0f %%", ceil(100.0 * payoff.sparsity - 1e-9));
    svg_line(panel->svg, x, panel->top, x, panel->top + PLOT_HEIGHT, "one");
    svg_text(panel->svg, is_right ? x - 6.0 : x + 6.0, panel->top + 14.0,
             is_right ? SVG_END : SVG_START, "value", label);
}

static void draw_panel(const struct panel *panel)
{
    const struct measurement *const key = panel->series->cases[0]->key;
    char *const setting = show_setting(key);
    svg_text_cut(panel->svg, panel->left, panel->top - 22.0, SVG_START, "label", panel->width,
                 layer_name(key));
    svg_text_cut(panel->svg, panel->left, panel->top - 7.0, SVG_START, "tick", panel->width,
                 setting ? setting : "");
    free(setting);
    draw_percents(panel);
    draw_times(panel);
    for (size_t i = 0; i < panel->svg->algorithm_count; i++)
        draw_algorithm(panel, i);
    draw_payoff(panel);
}

void svg_lines(const struct svg *svg, double top)
{
    const size_t columns = panel_columns(svg);
    const double width = (SVG_WIDTH - 2.0 * SVG_MARGIN + GAP) / (double)columns;
    for (size_t i = 0; i < svg->analysis->series_count; i++) {
        struct panel panel = { .svg = svg, .series = &svg->analysis->series[i] };
        panel.left = SVG_MARGIN + (double)(i % columns) * width + Y_AXIS;
        panel.top = top + (double)(i / columns) * (TITLE + PLOT_HEIGHT + AXIS) + TITLE;
        panel.width = width - GAP - Y_AXIS;
        fit(&panel);
        draw_panel(&panel);
    }
}
