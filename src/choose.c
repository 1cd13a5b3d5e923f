#include "choose.h"

#include "status.h"

#include <stdio.h>
#include <string.h>

static int table_length(const csrconv_algorithm *const *table)
{
    int length = 0;
    while (table && table[length])
        length++;
    return length;
}

const struct csrconv_algorithm *csrconv_find_algorithm(const char *name,
                                                       const csrconv_algorithm *const *peers)
{
    const csrconv_algorithm *const *tables[] = { csrconv_algorithm_table, peers };
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < table_length(tables[t]); i++)
            if (strcmp(tables[t][i]->info.name, name) == 0)
                return tables[t][i];
    return NULL;
}

static const char *device_name(csrconv_device device)
{
    return device == CSRCONV_DEVICE_CUDA ? "cuda" : "cpu";
}

static void consider(const struct csrconv_problem *problem, const struct csrconv_wish *wish,
                     const struct csrconv_algorithm *a, struct csrconv_considered *entry)
{
    entry->algorithm = a;
    entry->estimate.us = entry->measured_us = 0.0;
    entry->reason[0] = '\0';
    entry->status = CSRCONV_OK;
    if (wish->is_blob && strcmp(a->info.name, wish->name) != 0)
        entry->status = csrconv_fail(CSRCONV_NOT_SUPPORTED, "the blob is of %s", wish->name);
    else if (a->info.device != problem->device)
        entry->status =
            csrconv_fail(CSRCONV_NOT_SUPPORTED, "%s runs on %s, the plan is for %s", a->info.name,
                         device_name(a->info.device), device_name(problem->device));
    else
        entry->status = a->estimate(a, problem, &entry->estimate);
    if (!entry->status)
        return;
    entry->estimate.us = 0.0;
    snprintf(entry->reason, sizeof entry->reason, "%s", csrconv_last_error());
}

bool csrconv_is_wildcard(const char *name)
{
    return strcmp(name, "auto") == 0 || strcmp(name, "any") == 0;
}

bool csrconv_is_eligible(const struct csrconv_considered *entry, const struct csrconv_wish *wish)
{
    const struct csrconv_algorithm *a = entry->algorithm;
    if (entry->status)
        return false;
    if (!csrconv_is_wildcard(wish->name))
        return strcmp(a->info.name, wish->name) == 0;
    if (a->target && wish->compile == CSRCONV_COMPILE_NEVER)
        return false;
    return !a->info.is_peer || strcmp(wish->name, "any") == 0;
}

/* A tuned plan has measured all that it may take. */
static double us_of(const struct csrconv_considered *entry)
{
    return entry->measured_us > 0.0 ? entry->measured_us : entry->estimate.us;
}

/* The fastest, or of those that compile nothing; -1: there is none. */
static int fastest(const struct csrconv_choice *choice, const struct csrconv_wish *wish,
                   bool may_compile)
{
    int best = -1;
    for (int i = 0; i < choice->count; i++) {
        const struct csrconv_considered *entry = &choice->considered[i];
        if (csrconv_is_eligible(entry, wish) && (may_compile || !entry->algorithm->target) &&
            (best < 0 || us_of(entry) < us_of(&choice->considered[best])))
            best = i;
    }
    return best;
}

/* Seconds of compiling want a gain that estimates are sure of; who measured has compiled already.
 */
static int choose(const struct csrconv_choice *choice, const struct csrconv_wish *wish)
{
    const double least_gain = 1.1;
    const int best = fastest(choice, wish, true), other = fastest(choice, wish, false);
    if (best < 0 || other < 0 || choice->considered[best].measured_us > 0.0)
        return best;
    return choice->considered[other].estimate.us <=
                   least_gain * choice->considered[best].estimate.us
               ? other
               : best;
}

static csrconv_status nothing_runs(const struct csrconv_choice *choice, const char *name)
{
    for (int i = 0; i < choice->count; i++) {
        const struct csrconv_considered *entry = &choice->considered[i];
        if (strcmp(entry->algorithm->info.name, name) == 0)
            return csrconv_fail(entry->status, "%s", entry->reason);
    }
    for (int i = 0; i < choice->count; i++)
        if (choice->considered[i].status && choice->considered[i].reason[0])
            return csrconv_fail(choice->considered[i].status, "no algorithm runs this problem: %s",
                                choice->considered[i].reason);
    return csrconv_fail(CSRCONV_NOT_SUPPORTED, "no algorithm runs this problem");
}

/* Why the chosen one was. */
static void explain_chosen(struct csrconv_considered *best, const struct csrconv_wish *wish)
{
    char *reason = best->reason;
    if (wish->is_blob)
        snprintf(reason, sizeof best->reason, "taken from a blob");
    else if (wish->is_saved)
        snprintf(reason, sizeof best->reason, "the saved choice");
    else if (!csrconv_is_wildcard(wish->name))
        snprintf(reason, sizeof best->reason, "asked for by name");
    else if (best->measured_us > 0.0)
        snprintf(reason, sizeof best->reason,
                 "fastest of those that run, measured: %.4g us, estimated %.4g us",
                 best->measured_us, best->estimate.us);
    else
        snprintf(reason, sizeof best->reason, "fastest of those that run, by estimate: %.4g us",
                 best->estimate.us);
}

/* Why another one was not. */
static void explain_other(struct csrconv_considered *entry, const struct csrconv_considered *best,
                          const struct csrconv_wish *wish)
{
    char *reason = entry->reason;
    if (csrconv_is_eligible(entry, wish))
        snprintf(reason, sizeof entry->reason, "%s %.4g us, %s %.4g us%s",
                 entry->measured_us > 0.0 ? "measured" : "estimated", us_of(entry),
                 best->algorithm->info.name, us_of(best),
                 us_of(entry) < us_of(best) ? ": too little for compiling the weights" : "");
    else if (csrconv_is_wildcard(wish->name) && entry->algorithm->target)
        snprintf(reason, sizeof entry->reason, "it compiles the weights, which was not to be");
    else if (csrconv_is_wildcard(wish->name))
        snprintf(reason, sizeof entry->reason, "a peer: only \"any\" or its name takes it");
    else
        snprintf(reason, sizeof entry->reason, "%s %s", wish->name,
                 wish->is_saved ? "is the saved choice" : "was asked for by name");
}

csrconv_status csrconv_consider(const struct csrconv_problem *problem,
                                const struct csrconv_wish *wish,
                                const csrconv_algorithm *const *peers,
                                struct csrconv_memory *memory, struct csrconv_choice *choice)
{
    const int own = table_length(csrconv_algorithm_table);
    csrconv_status status;
    choice->count = own + table_length(peers);
    status = csrconv_allocate(memory, choice->count, sizeof *choice->considered,
                              (void **)&choice->considered);
    if (status)
        return status;
    for (int i = 0; i < choice->count; i++)
        consider(problem, wish, i < own ? csrconv_algorithm_table[i] : peers[i - own],
                 &choice->considered[i]);
    return CSRCONV_OK;
}

csrconv_status csrconv_choose(struct csrconv_choice *choice, const struct csrconv_wish *wish)
{
    struct csrconv_considered *best;
    choice->chosen = choose(choice, wish);
    if (choice->chosen < 0)
        return nothing_runs(choice, wish->name);
    best = &choice->considered[choice->chosen];
    explain_chosen(best, wish);
    for (int i = 0; i < choice->count; i++)
        if (i != choice->chosen && !choice->considered[i].status)
            explain_other(&choice->considered[i], best, wish);
    choice->reason = best->reason;
    return CSRCONV_OK;
}
