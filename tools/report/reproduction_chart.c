#include "reproduction.h"

#include "../complain.h"
#include "analysis.h"

#include <string.h>

static int add_own(const struct report_case *subject, struct report *report)
{
    const struct result *const own = case_best_sparse(subject);
    struct result result;
    if (!own)
        return EXIT_DONE;
    result = *own;
    result.measurement.algorithm = "csrconv";
    return report_add(report, &result);
}

static int is_image_by_image(const struct result *result)
{
    return strstr(result->measurement.algorithm, "_caffe") != NULL;
}

static int add_peers(const struct report_case *subject, struct report *report)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < subject->count && !code; i++)
        if (subject->results[i]->is_peer && !is_image_by_image(subject->results[i]))
            code = report_add(report, subject->results[i]);
    return code;
}

static int add_all(const struct report *from, struct report *to)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < from->count && !code; i++)
        code = report_add(to, &from->results[i]);
    return code;
}

/* Those of the first setting, the published batch: more of them are no chart any more. */
static int add_cases(const struct analysis *analysis, struct report *report)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < analysis->case_count && !code; i++) {
        const struct report_case *const subject = &analysis->cases[i];
        if (subject->ordinal == 0 && !(code = add_own(subject, report)))
            code = add_peers(subject, report);
    }
    return code;
}

int reproduction_add_chart(const struct reproduction_network *network, int is_cpu,
                           struct report *report)
{
    struct analysis analysis;
    int code;
    memcpy(report->date, network->report.date, sizeof report->date);
    if (is_cpu)
        return add_all(&network->report, report);
    code = analyse(&network->report, &analysis);
    if (!code)
        code = add_cases(&analysis, report);
    analysis_free(&analysis);
    return code;
}
