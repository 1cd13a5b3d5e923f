#include "reproduction_parts.h"

#include "../complain.h"
#include "../problem/descriptor.h"
#include "markdown.h"
#include "show.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int has_peer(const struct reproduction_peers *peers, const char *name)
{
    for (size_t i = 0; i < peers->count; i++)
        if (strcmp(peers->names[i], name) == 0)
            return 1;
    return 0;
}

struct reproduction_peers reproduction_peers_of(const struct report *report)
{
    struct reproduction_peers peers = { .count = 0 };
    for (size_t i = 0; i < report->count; i++) {
        const struct result *const result = &report->results[i];
        if (result->is_peer && result->status == RESULT_MEASURED &&
            peers.count < REPRODUCTION_PEERS && !has_peer(&peers, result->measurement.algorithm))
            peers.names[peers.count++] = result->measurement.algorithm;
    }
    return peers;
}

static char *show_extras(const csrconv_geometry *g)
{
    char *const stride =
        g->stride_h > 1 || g->stride_w > 1
            ? text_format(", stride %" PRId64 " x %" PRId64, g->stride_h, g->stride_w)
            : text_format("%s", "");
    char *const extras = g->groups > 1 ? text_format("%s, %" PRId64 " groups", stride, g->groups)
                                       : text_format("%s", stride ? stride : "");
    free(stride);
    return extras;
}

/* Channels and image, filters and kernel; the descriptor itself where it cannot be read. */
static char *show_shape(const char *descriptor)
{
    struct problem problem;
    const csrconv_geometry *const g = &problem.geometry;
    if (descriptor_parse("a layer", descriptor, &problem) != EXIT_DONE)
        return text_format("%s", descriptor);
    char *const extras = show_extras(g);
    char *const shape = text_format("%" PRId64 " x %" PRId64 " x %" PRId64 ", %" PRId64
                                    " of %" PRId64 " x %" PRId64 "%s",
                                    g->channels, g->height, g->width, g->filters, g->kernel_h,
                                    g->kernel_w, extras ? extras : "");
    free(extras);
    return shape;
}

static void write_headings(const struct reproduction_peers *peers, FILE *stream)
{
    markdown_cell(stream, "layer");
    markdown_cell(stream, "shape");
    markdown_cell(stream, "csrconv's best");
    markdown_cell(stream, "zeros");
    markdown_cell(stream, "us");
    for (size_t i = 0; i < peers->count; i++)
        markdown_cell(stream, "%s us (gain)", peers->names[i]);
    markdown_cell(stream, "of limit");
    markdown_end_row(stream);
    markdown_rule(stream, 3, 3 + peers->count);
}

static void write_peer(const struct report_case *subject, const struct result *own,
                       const char *name, FILE *stream)
{
    const struct result *const peer = case_result(subject, name);
    if (own && peer)
        markdown_cell(stream, "%s (%s)", show_number(peer->measurement.median_us).text,
                      show_times(speed_up(own, peer)).text);
    else
        markdown_cell(stream, "%s", peer ? show_number(peer->measurement.median_us).text : "-");
}

/* The layer's own name, as the network stands above the table. */
static const char *short_name(const struct measurement *key)
{
    const char *const colon = strchr(key->name, ':');
    return colon && colon[1] ? colon + 1 : layer_name(key);
}

/* The part reached of the multiply-adds that a CPU can do, or of the highest floor of a GPU. */
static void write_limit(const struct result *own, FILE *stream)
{
    const double floor_us = own ? floors_highest_us(&own->floors) : 0.0;
    if (own && own->peak_gflops > 0.0)
        markdown_cell(stream, "%.0f %%", own->measurement.gflops_nnz / own->peak_gflops * 100.0);
    else if (floor_us > 0.0)
        markdown_cell(stream, "%.0f %%", floor_us / own->measurement.median_us * 100.0);
    else
        markdown_cell(stream, "-");
}

static void write_layer(const struct report_case *subject, const struct reproduction_peers *peers,
                        FILE *stream)
{
    const struct result *const own = case_best_sparse(subject);
    char *const shape = show_shape(subject->key->problem);
    markdown_cell(stream, "%s", short_name(subject->key));
    markdown_cell(stream, "%s", shape ? shape : "");
    markdown_cell(stream, "%s%s", own ? own->measurement.algorithm : "-",
                  own && own->measurement.chosen ? " \\*" : "");
    markdown_cell(stream, "%s", show_percent(subject->key->sparsity).text);
    markdown_cell(stream, "%s", own ? show_number(own->measurement.median_us).text : "-");
    for (size_t i = 0; i < peers->count; i++)
        write_peer(subject, own, peers->names[i], stream);
    write_limit(own, stream);
    markdown_end_row(stream);
    free(shape);
}

void reproduction_layers(const struct analysis *analysis, size_t ordinal,
                         const struct reproduction_peers *peers, FILE *stream)
{
    write_headings(peers, stream);
    for (size_t i = 0; i < analysis->case_count; i++)
        if (analysis->cases[i].ordinal == ordinal)
            write_layer(&analysis->cases[i], peers, stream);
}
