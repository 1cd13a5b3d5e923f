/* The two kinds of chart; each is drawn below `top` in the width of the picture. */
#ifndef CSRCONV_TOOLS_REPORT_SVG_PARTS_H
#define CSRCONV_TOOLS_REPORT_SVG_PARTS_H

#include "svg_draw.h"

enum { SVG_WIDTH = 960, SVG_MARGIN = 24 };

/* Speed-up over the best dense, a group of bars per case. */
double svg_bars_height(const struct svg *svg);
void svg_bars(const struct svg *svg, double top);

/* Time against sparsity, a panel per series, with where sparse begins to pay. */
double svg_lines_height(const struct svg *svg);
void svg_lines(const struct svg *svg, double top);

#endif
