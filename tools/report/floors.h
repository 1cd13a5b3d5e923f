/* The least times that the resources of a GPU allow for a layer, and which of them counts. */
#ifndef CSRCONV_TOOLS_REPORT_FLOORS_H
#define CSRCONV_TOOLS_REPORT_FLOORS_H

#include <stdio.h>

/* Microseconds; 0: not known, or the resource is not used. */
struct floors {
    double multiply_us; /* the multiply-adds */
    double load_us;     /* a load from shared memory or the first cache for each of them */
    double memory_us;   /* input, weights and output once through the device's memory */
};

/* The highest one, which no kernel of this kind gets below; 0: none is known. */
double floors_highest_us(const struct floors *floors);

/* All of them, the fraction of the highest that a time reached, and what limits it, in words. */
void floors_explain(const struct floors *floors, double us, FILE *stream);

#endif
