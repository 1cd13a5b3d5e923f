#include "machine.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_cpu_name(char *name, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, size, "unknown CPU");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    fclose(file);
}

const char *machine_cpu(void)
{
    static char name[128];
    if (!name[0])
        read_cpu_name(name, sizeof name);
    return name;
}

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. */
static double busy_seconds(void)
{
    unsigned long long t[8] = { 0 };
    FILE *file = fopen("/proc/stat", "r");
    int got = 0;
    if (file) {
        got = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                     &t[3], &t[4], &t[5], &t[6], &t[7]);
        fclose(file);
    }
    if (got < 8)
        return 0.0;
    return (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
}

struct machine_use machine_use_now(void)
{
    struct timespec process;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
    return (struct machine_use){ .machine_s = busy_seconds(),
                                 .process_s =
                                     (double)process.tv_sec + (double)process.tv_nsec * 1e-9,
                                 .wall_s = clock_us() * 1e-6 };
}

double machine_taken_since(const struct machine_use *start)
{
    const struct machine_use now = machine_use_now();
    const double wall = now.wall_s - start->wall_s;
    const double others = now.machine_s - start->machine_s - (now.process_s - start->process_s);
    if (now.machine_s <= 0.0 || wall <= 0.0 || others <= 0.0)
        return 0.0;
    return others / wall;
}
