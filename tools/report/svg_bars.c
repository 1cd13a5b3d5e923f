#include "svg_parts.h"

#include "show.h"
#include "text.h"

#include <stdlib.h>

enum { BAR = 13, BAR_GAP = 2, GROUP_GAP = 14, LABEL = 250, AXIS = 44, VALUE = 60 };

static const double left = SVG_MARGIN + LABEL;
static const double width = SVG_WIDTH - 2 * SVG_MARGIN - LABEL - VALUE;

static int has_bar(const struct report_case *subject, size_t index)
{
    return case_best_dense(subject) && subject->results[index]->status == RESULT_MEASURED;
}

static size_t bar_count(const struct report_case *subject)
{
    size_t count = 0;
    for (size_t i = 0; i < subject->count; i++)
        count += (size_t)has_bar(subject, i);
    return count;
}

/* A case without bars has a line that says so. */
static double group_height(const struct report_case *subject)
{
    const size_t bars = bar_count(subject);
    return (double)((bars > 2 ? bars : 2) * (BAR + BAR_GAP) + GROUP_GAP);
}

static double groups_height(const struct svg *svg)
{
    double height = 0.0;
    for (size_t i = 0; i < svg->analysis->case_count; i++)
        height += group_height(&svg->analysis->cases[i]);
    return height;
}

double svg_bars_height(const struct svg *svg)
{
    return groups_height(svg) + AXIS;
}

static double highest_speed_up(const struct svg *svg)
{
    double highest = 1.0;
    for (size_t i = 0; i < svg->analysis->case_count; i++) {
        const struct report_case *const subject = &svg->analysis->cases[i];
        const double speed = speed_up(case_fastest(subject), case_best_dense(subject));
        highest = speed > highest ? speed : highest;
    }
    return highest;
}

static void draw_axis(const struct svg *svg, double top, double bottom, double highest)
{
    const double step = svg_step(highest, 5.0);
    for (int tick = 0; tick * step <= highest; tick++) {
        const double x = left + width * tick * step / highest;
        char label[32];
        snprintf(label, sizeof label, "%gx", tick * step);
        svg_line(svg, x, top, x, bottom, "grid");
        svg_text(svg, x, bottom + 16.0, SVG_MIDDLE, "tick", label);
    }
    svg_text(svg, left + width / 2.0, bottom + 36.0, SVG_MIDDLE, "axis",
             "speed-up over the best dense algorithm in fp32 (higher is faster)");
}

static void draw_labels(const struct svg *svg, const struct report_case *subject, double top)
{
    char *const setting = show_setting(subject->key);
    char *const detail = text_format("%s zeros, %s", show_percent(subject->key->sparsity).text,
                                     setting ? setting : "");
    svg_text_cut(svg, left - 10.0, top + 11.0, SVG_END, "label", LABEL - 14.0,
                 layer_name(subject->key));
    svg_text_cut(svg, left - 10.0, top + 26.0, SVG_END, "tick", LABEL + 60.0, detail ? detail : "");
    free(setting);
    free(detail);
}

static void draw_bar(const struct svg *svg, const struct result *result, double y, double length,
                     double speed)
{
    char *const value =
        text_format("%s%s", show_times(speed).text, result->measurement.chosen ? " *" : "");
    const char *const shown = value ? value : "";
    svg_rectangle(svg, left, y, length, BAR, svg_colour(svg, result->measurement.algorithm));
    /* White behind the digits, which the line at 1x would cross. */
    svg_rectangle(svg, left + length + 3.0, y, 7.0 * (double)text_width(shown), BAR, "#ffffff");
    svg_text(svg, left + length + 5.0, y + BAR - 2.5, SVG_START, "value", shown);
    free(value);
}

static void draw_group(const struct svg *svg, const struct report_case *subject, double top,
                       double highest)
{
    const struct result *const dense = case_best_dense(subject);
    draw_labels(svg, subject, top);
    if (!dense)
        svg_text(svg, left + 8.0, top + 11.0, SVG_START, "tick",
                 "no dense algorithm in fp32 was measured to compare with");
    double y = top;
    for (size_t i = 0; i < subject->count; i++) {
        if (!has_bar(subject, i))
            continue;
        const double speed = speed_up(subject->results[i], dense);
        draw_bar(svg, subject->results[i], y, width * speed / highest, speed);
        y += BAR + BAR_GAP;
    }
}

void svg_bars(const struct svg *svg, double top)
{
    const double highest = highest_speed_up(svg) * 1.02;
    const double bottom = top + groups_height(svg);
    draw_axis(svg, top - 4.0, bottom, highest);
    const double one = left + width / highest;
    svg_line(svg, one, top - 4.0, one, bottom, "one");
    double y = top + GROUP_GAP / 2.0;
    for (size_t i = 0; i < svg->analysis->case_count; i++) {
        draw_group(svg, &svg->analysis->cases[i], y, highest);
        y += group_height(&svg->analysis->cases[i]);
    }
}
