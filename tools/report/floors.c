#include "floors.h"

#include "show.h"

/* Below this part of its highest floor a kernel waits for something that has no floor here. */
static const double least_fraction = 0.3;

struct resource {
    double us;
    const char *name, *limit;
};

enum { RESOURCES = 3 };

static void list_resources(const struct floors *floors, struct resource list[RESOURCES])
{
    list[0] = (struct resource){ floors->load_us, "loads", "loads from shared memory limit it" };
    list[1] = (struct resource){ floors->multiply_us, "multiply-adds", "multiply-adds limit it" };
    list[2] = (struct resource){ floors->memory_us, "device memory", "device memory limits it" };
}

static const struct resource *highest(const struct resource list[RESOURCES])
{
    const struct resource *found = &list[0];
    for (int i = 1; i < RESOURCES; i++)
        if (list[i].us > found->us)
            found = &list[i];
    return found;
}

double floors_highest_us(const struct floors *floors)
{
    struct resource list[RESOURCES];
    list_resources(floors, list);
    return highest(list)->us;
}

void floors_explain(const struct floors *floors, double us, FILE *stream)
{
    struct resource list[RESOURCES];
    const struct resource *top;
    const char *separator = "floors: ";
    list_resources(floors, list);
    top = highest(list);
    for (int i = 0; i < RESOURCES; i++) {
        if (list[i].us <= 0.0)
            continue;
        fprintf(stream, "%s%s %s us (%.0f %% reached)", separator, list[i].name,
                show_number(list[i].us).text, list[i].us / us * 100.0);
        separator = ", ";
    }
    fprintf(stream, "; %s",
            top->us / us < least_fraction
                ? "none of them limits it, but latency, launches or lanes that idle"
                : top->limit);
}
