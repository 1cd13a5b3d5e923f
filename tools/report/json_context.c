#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "json_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the first line of a file of the first CPU, without its end. */
static int read_line(char line[256], const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/%s", name);
    FILE *const stream = fopen(path, "r");
    const int is_read = stream && fgets(line, 256, stream);
    if (stream)
        fclose(stream);
    if (is_read)
        line[strcspn(line, "\n")] = '\0';
    return is_read;
}

static int bits_of_mask(const char *mask)
{
    static const int bits[] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
    int sum = 0;
    for (; *mask; mask++) {
        const char digit[] = { *mask, '\0' };
        sum += bits[strtol(digit, NULL, 16)];
    }
    return sum;
}

static json_t *cache_of(int index)
{
    char name[64], type[256], level[256], size[256], mask[256];
    snprintf(name, sizeof name, "cache/index%d/type", index);
    int is_read = read_line(type, name);
    snprintf(name, sizeof name, "cache/index%d/level", index);
    is_read = is_read && read_line(level, name);
    snprintf(name, sizeof name, "cache/index%d/size", index);
    is_read = is_read && read_line(size, name);
    snprintf(name, sizeof name, "cache/index%d/shared_cpu_map", index);
    is_read = is_read && read_line(mask, name);
    if (!is_read)
        return NULL;
    /* Linux writes every size in K. */
    return json_pack("{s:s, s:i, s:I, s:i}", "type", type, "level", atoi(level), "size",
                     (json_int_t)atoll(size) * 1024, "num_sharing", bits_of_mask(mask));
}

static json_t *caches(void)
{
    json_t *const list = json_array();
    json_t *cache;
    for (int index = 0; (cache = cache_of(index)) != NULL; index++)
        json_array_append_new(list, cache);
    return list;
}

/* The highest clock, in kHz there; 0 where the system does not tell, as in most virtual machines.
 */
static json_int_t mhz_per_cpu(void)
{
    char line[256];
    return read_line(line, "cpufreq/cpuinfo_max_freq") ? atoll(line) / 1000 : 0;
}

#ifdef __OPTIMIZE__
static const char build_type[] = "release";
#else
static const char build_type[] = "debug";
#endif

/* From the first result that has the text: one run has one machine and one commit. */
static void set_from_results(json_t *context, const char *key, const struct report *report,
                             const char *column_name)
{
    const struct measurement_column *const column = measurement_column(column_name);
    for (size_t i = 0; i < report->count; i++) {
        const char *const text = measurement_text(&report->results[i].measurement, column);
        if (*text) {
            json_object_set_new(context, key, json_string(text));
            return;
        }
    }
}

json_t *json_context(const struct report *report)
{
    json_t *const context =
        json_pack("{s:s, s:I, s:I, s:o, s:s, s:i}", "date", report->date, "num_cpus",
                  (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "mhz_per_cpu", mhz_per_cpu(), "caches",
                  caches(), "library_build_type", build_type, "json_schema_version", 1);
    set_from_results(context, "library_version", report, "version");
    set_from_results(context, "machine", report, "machine");
    set_from_results(context, "driver", report, "driver");
    set_from_results(context, "commit", report, "commit");
    return context;
}
