#include "plan_cache.h"

#include "output.h"

#include "blob.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t most_bytes = INT64_C(1) << 30;

enum { KEY_SIZE = 2 * CSRCONV_SHA256_BYTES + 1 };

static const char *folder_of(const struct plan_cache *cache)
{
    return cache->wish ? cache->wish : cache->own;
}

static void warn(struct plan_cache *cache, const char *why)
{
    if (!cache->has_warned)
        fprintf(stderr, "warning: %s: compiled plans are not kept: %s\n", folder_of(cache), why);
    cache->has_warned = true;
}

/* ---------------------------------------------------------------------------------- the folder */

/* Where the XDG base directory specification wants it; false if the environment names no place. */
static bool find_folder(char folder[PATH_MAX])
{
    const char *const base = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    int length;
    if (base && base[0] == '/')
        length = snprintf(folder, PATH_MAX, "%s", base);
    else if (home && home[0] == '/')
        length = snprintf(folder, PATH_MAX, "%s/.cache", home);
    else
        return false;
    if (length >= PATH_MAX - (int)sizeof "/csrconv")
        return false;
    mkdir(folder, 0700); /* as the specification says; if it fails, the next step tells */
    strcat(folder, "/csrconv");
    return true;
}

static void open_store(struct plan_cache *cache)
{
    char why[STORE_WHY];
    cache->is_opened = true;
    if (cache->wish ? strcmp(cache->wish, "off") == 0 : !find_folder(cache->own))
        return;
    output_catch_signals(); /* a full RLIMIT_FSIZE is as a full disk */
    cache->store = store_open(folder_of(cache), most_bytes, why);
    if (!cache->store)
        warn(cache, why);
}

void plan_cache_close(struct plan_cache *cache)
{
    store_close(cache->store);
    cache->store = NULL;
}

/* -------------------------------------------------------------------------------------- the plans
 */

static bool list_compiles(const csrconv_algorithm *const *list, csrconv_device device)
{
    for (; list && *list; list++)
        if ((*list)->target && (*list)->info.device == device)
            return true;
    return false;
}

/* Whether a plan may have to compile, and there is a cache for what comes of it. */
static bool is_wanted(struct plan_cache *cache, const csrconv_plan_options *options)
{
    csrconv_device device = options->device;
    if (csrconv_device_resolve(&device, options->ordinal) ||
        !(list_compiles(csrconv_algorithms(), device) || list_compiles(options->peers, device)))
        return false;
    if (!cache->is_opened)
        open_store(cache);
    return cache->store != NULL;
}

/*
 * What a plan is kept under: its own inputs, and how its algorithm was asked for, so that a choice
 * is not made by what happens to be kept. What else the code depends on, the library checks.
 */
static bool find_key(const csrconv_weights *weights, const csrconv_geometry *geometry,
                     const csrconv_plan_options *options, char key[KEY_SIZE])
{
    const char *const name = options->algorithm ? options->algorithm : "auto";
    struct csrconv_problem problem = { .weights = weights, .epilogue = options->epilogue };
    struct csrconv_blob_identity identity = { 0 };
    struct csrconv_sha256 hash;
    uint8_t digest[CSRCONV_SHA256_BYTES];
    if (csrconv_shape_init(&problem.shape, geometry) ||
        csrconv_check_weights(weights, &problem.shape))
        return false;
    csrconv_blob_digest(&problem, &identity);
    csrconv_sha256_begin(&hash);
    csrconv_sha256_add(&hash, &identity, sizeof identity);
    csrconv_sha256_add(&hash, &options->tune, sizeof options->tune);
    csrconv_sha256_add(&hash, &options->compile, sizeof options->compile);
    csrconv_sha256_add(&hash, &options->ordinal, sizeof options->ordinal);
    csrconv_sha256_add(&hash, name, strlen(name));
    csrconv_sha256_end(&hash, digest);
    for (int i = 0; i < CSRCONV_SHA256_BYTES; i++)
        snprintf(key + 2 * i, 3, "%02x", digest[i]);
    return true;
}

/* From what is kept; what the library refuses is kept no longer. */
static bool take(const struct plan_cache *cache, const char *key, const csrconv_weights *weights,
                 const csrconv_geometry *geometry, const csrconv_plan_options *options,
                 csrconv_plan **out)
{
    csrconv_plan_options with_blob = *options;
    void *const blob = store_read(cache->store, key, &with_blob.blob_bytes);
    csrconv_status status;
    if (!blob)
        return false;
    with_blob.blob = blob;
    status = csrconv_plan_create(weights, geometry, &with_blob, out);
    free(blob);
    if (status == CSRCONV_BAD_BLOB)
        store_remove(cache->store, key);
    return status == CSRCONV_OK;
}

static void keep(struct plan_cache *cache, const char *key, const csrconv_plan *plan)
{
    csrconv_plan_info info = { .struct_size = sizeof info };
    char why[STORE_WHY];
    void *blob;
    if (csrconv_plan_describe(plan, &info) || !info.blob_bytes)
        return;
    blob = malloc(info.blob_bytes);
    if (!blob || csrconv_plan_blob(plan, blob, info.blob_bytes))
        warn(cache, "no room for a copy of a plan");
    else if (!store_write(cache->store, key, blob, info.blob_bytes, why))
        warn(cache, why);
    free(blob);
}

csrconv_status plan_cache_create(struct plan_cache *cache, const csrconv_weights *weights,
                                 const csrconv_geometry *geometry,
                                 const csrconv_plan_options *options, csrconv_plan **out)
{
    char key[KEY_SIZE];
    csrconv_status status;
    if (!is_wanted(cache, options) || !find_key(weights, geometry, options, key))
        return csrconv_plan_create(weights, geometry, options, out);
    if (take(cache, key, weights, geometry, options, out))
        return CSRCONV_OK;
    status = csrconv_plan_create(weights, geometry, options, out);
    if (!status)
        keep(cache, key, *out);
    return status;
}
