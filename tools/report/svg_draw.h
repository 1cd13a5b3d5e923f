/* What the charts are drawn with: SVG without scripts, links or fonts from elsewhere. */
#ifndef CSRCONV_TOOLS_REPORT_SVG_DRAW_H
#define CSRCONV_TOOLS_REPORT_SVG_DRAW_H

#include "analysis.h"

#include <stdio.h>

enum { SVG_ALGORITHMS = 64 };

/* What all parts of a chart need. */
struct svg {
    FILE *stream;
    const struct report *report;
    const struct analysis *analysis;
    const char *algorithms[SVG_ALGORITHMS]; /* that were measured: one colour each */
    int is_dense[SVG_ALGORITHMS];
    size_t algorithm_count;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg svg_start(const struct analysis *analysis, const struct report *report, FILE *stream);

/* The head of a picture with the styles of all its parts, on white; "</svg>" ends it. */
void svg_open(FILE *stream, double width, double height);

/* The colour of an algorithm; grey for one that is not in the list. */
const char *svg_colour(const struct svg *svg, const char *algorithm);

void svg_text(const struct svg *svg, double x, double y, enum svg_anchor anchor, const char *style,
              const char *text);

/* Cut to about so many pixels; the whole text shows under the pointer. */
void svg_text_cut(const struct svg *svg, double x, double y, enum svg_anchor anchor,
                  const char *style, double pixels, const char *text);
void svg_line(const struct svg *svg, double x1, double y1, double x2, double y2, const char *style);
void svg_rectangle(const struct svg *svg, double x, double y, double width, double height,
                   const char *colour);

/* The largest of 1, 2 and 5 times a power of ten that cuts the range into at least `least` steps.
 */
double svg_step(double range, double least);

#endif
