/*
 * Plans by way of a cache of compiled code: what a plan compiled is kept in a folder, and the next
 * plan for the same takes it from there. No plan fails by the cache; what hinders it is a warning.
 */
#ifndef CSRCONV_TOOLS_PLAN_CACHE_H
#define CSRCONV_TOOLS_PLAN_CACHE_H

#include "csrconv.h"
#include "store.h"

#include <limits.h>

struct plan_cache {
    const char *wish;    /* a folder; "off"; or NULL: the user's own, by the environment */
    char own[PATH_MAX];  /* the user's own, if it is asked for */
    struct store *store; /* once a plan may have to compile; NULL: there is none */
    bool is_opened, has_warned;
};

/* As csrconv_plan_create, which it calls. The options bring no blob of their own. */
csrconv_status plan_cache_create(struct plan_cache *cache, const csrconv_weights *weights,
                                 const csrconv_geometry *geometry,
                                 const csrconv_plan_options *options, csrconv_plan **out);

void plan_cache_close(struct plan_cache *cache);

#endif
