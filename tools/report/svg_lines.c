#include "svg_parts.h"

#include "show.h"
#include "text.h"

#include <math.h>
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

/* Dense ones are dashed, since their time does not depend on the sparsity. */
static void draw_algorithm(const struct panel *panel, size_t index)
{
    const struct svg *const svg = panel->svg;
    const char *const colour = svg_colour(svg, svg->algorithms[index]);
    fprintf(svg->stream, "<polyline class=\"%s\" stroke=\"%s\" points=\"",
            svg->is_dense[index] ? "curve dense" : "curve", colour);
    for (size_t i = 0; i < panel->series->count; i++) {
        const struct report_case *const subject = panel->series->cases[i];
        const struct result *const result = case_result(subject, svg->algorithms[index]);
        if (result)
            fprintf(svg->stream, "%.1f,%.1f ", x_of(panel, 100.0 * subject->key->sparsity),
                    y_of(panel, result->measurement.median_us));
    }
    fputs("\"/>\n", svg->stream);
    for (size_t i = 0; i < panel->series->count; i++) {
        const struct report_case *const subject = panel->series->cases[i];
        const struct result *const result = case_result(subject, svg->algorithms[index]);
        if (result)
            fprintf(svg->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                    x_of(panel, 100.0 * subject->key->sparsity),
                    y_of(panel, result->measurement.median_us), colour);
    }
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
