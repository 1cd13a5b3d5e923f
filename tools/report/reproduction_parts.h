/* The parts of the report of a reproduction. */
#ifndef CSRCONV_TOOLS_REPORT_REPRODUCTION_PARTS_H
#define CSRCONV_TOOLS_REPORT_REPRODUCTION_PARTS_H

#include "analysis.h"
#include "reproduction.h"

enum { REPRODUCTION_PEERS = 16 };

/* The peers that were measured on some layer, in the order of the report. */
struct reproduction_peers {
    const char *names[REPRODUCTION_PEERS];
    size_t count;
};

struct reproduction_peers reproduction_peers_of(const struct report *report);

/* The layers of one setting, a row each. */
void reproduction_layers(const struct analysis *analysis, size_t ordinal,
                         const struct reproduction_peers *peers, FILE *stream);

/* How many times as fast csrconv is as each peer; and what was published, if is_published. */
void reproduction_speed_ups(const struct analysis *analysis, size_t ordinal, const char *network,
                            const struct reproduction_peers *peers, int is_published, FILE *stream);

/* The sums over the network. */
void reproduction_totals(const struct analysis *analysis, size_t ordinal, FILE *stream);

/* What each choice of the blocked kernels is worth in one setting. */
void reproduction_ablation(const struct analysis *analysis, size_t ordinal,
                           const struct reproduction *reproduction, FILE *stream);

#endif
