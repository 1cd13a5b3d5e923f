/*
 * The published tables of pruned networks, measured again: a report in Markdown, and the charts of
 * whole networks.
 */
#ifndef CSRCONV_TOOLS_REPORT_REPRODUCTION_H
#define CSRCONV_TOOLS_REPORT_REPRODUCTION_H

#include "report_format.h"

struct reproduction_network {
    char name[64];
    char chart[96];         /* file of the speed-ups, beside the report */
    struct report report;   /* all algorithms */
    struct report ablation; /* the variants, the complete one first; empty: none ran */
};

/* What a variant of the ablation is without. */
struct reproduction_variant {
    const char *name, *meaning;
};

struct reproduction {
    const struct reproduction_network *networks;
    size_t count;
    const struct reproduction_variant *variants; /* the complete one first */
    size_t variant_count;
    int is_cpu;
    size_t published_settings; /* the first settings of a layer, which are at its published batch */
    double min_time_s;
    double taken; /* part of a CPU that other processes took meanwhile */
};

/* Writes the report. Returns an exit_code and complains; errors of the stream are its opener's. */
int reproduction_write(const struct reproduction *reproduction, FILE *stream);

/*
 * Adds what a chart of a network's layers shows. Of a GPU, where there are many peers, that is the
 * fastest of csrconv's own as "csrconv", not the peers that compute image by image, and the first
 * setting alone.
 */
int reproduction_add_chart(const struct reproduction_network *network, int is_cpu,
                           struct report *report);

/*
 * Adds the totals of a network to a report, as if it were one layer: what report_format_svg then
 * draws is the chart of whole networks. Only what ran on all of the layers; of a GPU, the best of
 * csrconv's own and the peers.
 */
int reproduction_add_totals(const struct reproduction_network *network, struct report *report);

#endif
