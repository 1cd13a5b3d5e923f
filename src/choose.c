#include "choose.h"

#include "status.h"

#include <stdbool.h>
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

static void consider(const struct csrconv_problem *problem, const struct csrconv_algorithm *a,
                     struct csrconv_considered *entry)
{
    entry->algorithm = a;
    entry->estimate_us = 0.0;
    entry->reason[0] = '\0';
    entry->status = CSRCONV_OK;
    if (a->info.device != problem->device)
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

static bool is_wildcard(const char *name)
{
    return strcmp(name, "auto") == 0 || strcmp(name, "any") == 0;
}

/* Whether `name` lets this entry be taken at all. */
static bool is_eligible(const struct csrconv_considered *entry, const char *name)
{
    if (entry->status)
        return false;
    if (strcmp(name, "any") == 0)
        return true;
    if (strcmp(name, "auto") == 0)
        return !entry->algorithm->info.is_peer;
    return strcmp(entry->algorithm->info.name, name) == 0;
}

static int fastest(const struct csrconv_choice *choice, const char *name)
{
    int best = -1;
    for (int i = 0; i < choice->count; i++)
        if (is_eligible(&choice->considered[i], name) &&
            (best < 0 || choice->considered[i].estimate_us < choice->considered[best].estimate_us))
            best = i;
    return best;
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

/* Words why each entry was taken or not. */
static void explain(struct csrconv_choice *choice, const char *name)
{
    const struct csrconv_considered *best = &choice->considered[choice->chosen];
    for (int i = 0; i < choice->count; i++) {
        struct csrconv_considered *entry = &choice->considered[i];
        char *reason = entry->reason;
        if (entry->status)
            continue;
        if (i == choice->chosen && is_wildcard(name))
            snprintf(reason, sizeof entry->reason,
                     "fastest of those that run, by estimate: %.4g us", entry->estimate_us);
        else if (i == choice->chosen)
            snprintf(reason, sizeof entry->reason, "asked for by name");
        else if (is_eligible(entry, name))
            snprintf(reason, sizeof entry->reason, "estimated %.4g us, %s %.4g us",
                     entry->estimate_us, best->algorithm->info.name, best->estimate_us);
        else if (is_wildcard(name))
            snprintf(reason, sizeof entry->reason, "a peer: only \"any\" or its name takes it");
        else
            snprintf(reason, sizeof entry->reason, "%s was asked for by name", name);
    }
    choice->reason = best->reason;
}

csrconv_status csrconv_choose(const struct csrconv_problem *problem, const char *name,
                              const csrconv_algorithm *const *peers, struct csrconv_memory *memory,
                              struct csrconv_choice *choice)
{
    const int own = table_length(csrconv_algorithm_table);
    const char *wanted = name ? name : "auto";
    csrconv_status status;
    choice->count = own + table_length(peers);
    status = csrconv_allocate(memory, choice->count, sizeof *choice->considered,
                              (void **)&choice->considered);
    if (status)
        return status;
    for (int i = 0; i < choice->count; i++)
        consider(problem, i < own ? csrconv_algorithm_table[i] : peers[i - own],
                 &choice->considered[i]);
    choice->chosen = fastest(choice, wanted);
    if (choice->chosen < 0)
        return nothing_runs(choice, wanted);
    explain(choice, wanted);
    return CSRCONV_OK;
}
