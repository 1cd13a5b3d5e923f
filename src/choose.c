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
    entry->estimate_us = 0.0;
    entry->reason[0] = '\0';
    entry->status = CSRCONV_OK;
    if (problem->compiled.bytes && strcmp(a->info.name, wish->name) != 0)
        entry->status = csrconv_fail(CSRCONV_NOT_SUPPORTED, "the blob is of %s", wish->name);
    else if (a->info.device != problem->device)
        entry->status =
            csrconv_fail(CSRCONV_NOT_SUPPORTED, "%s runs on %s, the plan is for %s", a->info.name,
                         device_name(a->info.device), device_name(problem->device));
    else if (a->refuse)
        entry->status = a->refuse(a, problem);
    if (entry->status)
        snprintf(entry->reason, sizeof entry->reason, "%s", csrconv_last_error());
    else
        entry->estimate_us = a->estimate(a, problem);
}

bool csrconv_is_wildcard(const char *name)
{
    return !name || strcmp(name, "auto") == 0 || strcmp(name, "any") == 0;
}

/* Whether the wish lets this entry be taken at all. */
static bool is_eligible(const struct csrconv_considered *entry, const struct csrconv_wish *wish)
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

/* The fastest, or of those that compile nothing; -1: there is none. */
static int fastest(const struct csrconv_choice *choice, const struct csrconv_wish *wish,
                   bool may_compile)
{
    int best = -1;
    for (int i = 0; i < choice->count; i++) {
        const struct csrconv_considered *entry = &choice->considered[i];
        if (is_eligible(entry, wish) && (may_compile || !entry->algorithm->target) &&
            (best < 0 || entry->estimate_us < choice->considered[best].estimate_us))
            best = i;
    }
    return best;
}

/* Of those that may be taken; seconds of compiling want a gain that the estimates are sure of. */
static int choose(const struct csrconv_choice *choice, const struct csrconv_wish *wish)
{
    const double least_gain = 1.1;
    const int best = fastest(choice, wish, true), other = fastest(choice, wish, false);
    if (best < 0 || other < 0)
        return best;
    return choice->considered[other].estimate_us <=
                   least_gain * choice->considered[best].estimate_us
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

/* Why an entry that does not refuse was not taken. */
static void explain_other(const struct csrconv_wish *wish, const struct csrconv_considered *best,
                          struct csrconv_considered *entry)
{
    const size_t size = sizeof entry->reason;
    if (!csrconv_is_wildcard(wish->name))
        snprintf(entry->reason, size, "%s was asked for by name", wish->name);
    else if (!is_eligible(entry, wish) && entry->algorithm->target)
        snprintf(entry->reason, size, "it compiles the weights, which was not to be");
    else if (!is_eligible(entry, wish))
        snprintf(entry->reason, size, "a peer: only \"any\" or its name takes it");
    else
        snprintf(entry->reason, size, "estimated %.4g us, %s %.4g us%s", entry->estimate_us,
                 best->algorithm->info.name, best->estimate_us,
                 entry->estimate_us < best->estimate_us ? ": too little for compiling the weights"
                                                        : "");
}

/* Words why each entry was taken or not. */
static void explain(const struct csrconv_problem *problem, const struct csrconv_wish *wish,
                    struct csrconv_choice *choice)
{
    struct csrconv_considered *best = &choice->considered[choice->chosen];
    for (int i = 0; i < choice->count; i++)
        if (i != choice->chosen && !choice->considered[i].status)
            explain_other(wish, best, &choice->considered[i]);
    if (csrconv_is_wildcard(wish->name))
        snprintf(best->reason, sizeof best->reason,
                 "fastest of those that run, by estimate: %.4g us", best->estimate_us);
    else
        snprintf(best->reason, sizeof best->reason,
                 problem->compiled.bytes ? "taken from a blob" : "asked for by name");
    choice->reason = best->reason;
}

csrconv_status csrconv_choose(const struct csrconv_problem *problem,
                              const struct csrconv_wish *wish, struct csrconv_memory *memory,
                              struct csrconv_choice *choice)
{
    const int own = table_length(csrconv_algorithm_table);
    csrconv_status status;
    choice->count = own + table_length(wish->peers);
    status = csrconv_allocate(memory, choice->count, sizeof *choice->considered,
                              (void **)&choice->considered);
    if (status)
        return status;
    for (int i = 0; i < choice->count; i++)
        consider(problem, wish, i < own ? csrconv_algorithm_table[i] : wish->peers[i - own],
                 &choice->considered[i]);
    choice->chosen = choose(choice, wish);
    if (choice->chosen < 0)
        return nothing_runs(choice, wish->name);
    explain(problem, wish, choice);
    return CSRCONV_OK;
}
