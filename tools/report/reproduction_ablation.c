#include "reproduction_parts.h"

#include "markdown.h"
#include "show.h"
#include "statistics.h"

#include <string.h>

static void write_headings(const struct reproduction *r, FILE *stream)
{
    markdown_cell(stream, "layer");
    markdown_cell(stream, "%s us", r->variants[0].name);
    for (size_t i = 1; i < r->variant_count; i++)
        markdown_cell(stream, "%s", r->variants[i].name);
    markdown_end_row(stream);
    markdown_rule(stream, 1, r->variant_count);
}

/* How many times as long it takes without the choice; "same" if the plan is the same. */
static void write_variant(const struct result *complete, const struct result *variant, FILE *stream)
{
    if (!variant)
        markdown_cell(stream, "-");
    else if (strcmp(variant->detail, complete->detail) == 0)
        markdown_cell(stream, "same");
    else
        markdown_cell(stream, "%s", show_times(speed_up(complete, variant)).text);
}

static void write_layer(const struct report_case *subject, const struct reproduction *r,
                        FILE *stream)
{
    const struct result *const complete = case_result(subject, r->variants[0].name);
    if (!complete)
        return;
    markdown_cell(stream, "%s", layer_name(subject->key));
    markdown_cell(stream, "%s", show_number(complete->measurement.median_us).text);
    for (size_t i = 1; i < r->variant_count; i++)
        write_variant(complete, case_result(subject, r->variants[i].name), stream);
    markdown_end_row(stream);
}

/* Over the layers whose plan is another without the choice. */
static void write_mean(const struct analysis *analysis, size_t ordinal, const char *complete_name,
                       const char *name, FILE *stream)
{
    struct geometric_mean mean = { 0 };
    for (size_t i = 0; i < analysis->case_count; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        const struct result *const complete = case_result(subject, complete_name);
        const struct result *const variant = case_result(subject, name);
        if (subject->ordinal == ordinal && complete && variant &&
            strcmp(variant->detail, complete->detail) != 0)
            geometric_mean_add(&mean, speed_up(complete, variant));
    }
    if (mean.count > 0)
        markdown_cell(stream, "%s (%zu)", show_times(geometric_mean_value(&mean)).text, mean.count);
    else
        markdown_cell(stream, "-");
}

void reproduction_ablation(const struct analysis *analysis, size_t ordinal,
                           const struct reproduction *r, FILE *stream)
{
    write_headings(r, stream);
    for (size_t i = 0; i < analysis->case_count; i++)
        if (analysis->cases[i].ordinal == ordinal)
            write_layer(&analysis->cases[i], r, stream);
    markdown_cell(stream, "geometric mean (layers that differ)");
    markdown_cell(stream, " ");
    for (size_t i = 1; i < r->variant_count; i++)
        write_mean(analysis, ordinal, r->variants[0].name, r->variants[i].name, stream);
    markdown_end_row(stream);
}
