/* Quantities as people read them, in tables, sentences and charts alike. */
#ifndef CSRCONV_TOOLS_REPORT_SHOW_H
#define CSRCONV_TOOLS_REPORT_SHOW_H

#include "analysis.h"

enum { SHOWN_BYTES = 48 };
struct shown {
    char text[SHOWN_BYTES];
};

struct shown show_number(double value); /* of four digits, such as a time; "-" if not finite */
struct shown show_times(double factor); /* 2.13x */
struct shown show_percent(double fraction);

/* Percent of zeros from which sparse pays by the cost model, in steps of five, up to 99. */
double show_model_percent(double pays_from);

/*
 * The sentence on where a series pays, such as "pays from 84 %; at 90 %: 2.1x over the best dense
 * (openblas)". To be freed; NULL: no memory.
 */
char *show_payoff(const struct report_series *series);

/* What tells the series from others of its layer, such as "batch 4, 8 threads, hot". To be freed.
 */
char *show_setting(const struct measurement *key);

#endif
