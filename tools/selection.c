#include "selection.h"

#include "algorithm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int selection_device(const char *text, csrconv_device *device, int *ordinal)
{
    int64_t number = 0;
    *ordinal = 0;
    if (strcmp(text, "auto") == 0) {
        *device = CSRCONV_DEVICE_AUTO;
    } else if (strcmp(text, "cpu") == 0) {
        *device = CSRCONV_DEVICE_CPU;
    } else if (strcmp(text, "cuda") == 0) {
        *device = CSRCONV_DEVICE_CUDA;
    } else if (strncmp(text, "cuda:", 5) == 0) {
        const int code = number_whole("--device", text + 5, 0, 1023, &number);
        *device = CSRCONV_DEVICE_CUDA;
        *ordinal = (int)number;
        return code;
    } else {
        return complain(EXIT_BAD, "--device", "\"%s\" is not auto, cpu, cuda or cuda:N", text);
    }
    return EXIT_DONE;
}

int selection_usable_device(const char *text, csrconv_device *device, int *ordinal,
                            const char **name)
{
    static char buffer[32];
    const int code = selection_device(text, device, ordinal);
    csrconv_status status;
    if (code)
        return code;
    if (*device == CSRCONV_DEVICE_AUTO)
        *device = csrconv_device_usable(CSRCONV_DEVICE_CUDA, 0) ? CSRCONV_DEVICE_CPU
                                                                : CSRCONV_DEVICE_CUDA;
    status = csrconv_device_usable(*device, *ordinal);
    if (status)
        return selection_complain("--device", status);
    if (*device == CSRCONV_DEVICE_CUDA)
        snprintf(buffer, sizeof buffer, "cuda:%d", *ordinal);
    *name = *device == CSRCONV_DEVICE_CUDA ? buffer : "cpu";
    return EXIT_DONE;
}

void selection_warn_of_threads(csrconv_device device, const struct whole_list *threads)
{
    for (size_t i = 0; i < threads->count; i++)
        if (device != CSRCONV_DEVICE_CPU && threads->items[i]) {
            fputs("warning: --threads is for the CPU, and changes nothing here\n", stderr);
            return;
        }
}

const char *selection_device_kind(csrconv_device device)
{
    return device == CSRCONV_DEVICE_CUDA ? "cuda" : "cpu";
}

static int length_of(const csrconv_algorithm *const *table)
{
    int length = 0;
    while (table[length])
        length++;
    return length;
}

int selection_count(void)
{
    return length_of(csrconv_algorithms()) + length_of(csrconv_peer_table);
}

const csrconv_algorithm *selection_algorithm(int index)
{
    const int own = length_of(csrconv_algorithms());
    return index < own ? csrconv_algorithms()[index] : csrconv_peer_table[index - own];
}

csrconv_algorithm_info selection_info(int index)
{
    csrconv_algorithm_info info = { .struct_size = sizeof info };
    csrconv_algorithm_describe(selection_algorithm(index), &info);
    return info;
}

/* The index of the algorithm, or -1. */
static int find_named(const char *name)
{
    const int count = selection_count();
    for (int i = 0; i < count; i++)
        if (strcmp(name, selection_info(i).name) == 0)
            return i;
    return -1;
}

static int mark_named(const char *name, int *wanted)
{
    const int count = selection_count(), index = find_named(name);
    if (strcmp(name, "all") == 0)
        for (int i = 0; i < count; i++)
            wanted[i] = 1;
    else if (index >= 0)
        wanted[index] = 1;
    else
        return complain(EXIT_BAD, "--algo", "there is no algorithm \"%s\"; info --algos lists them",
                        name);
    return EXIT_DONE;
}

int selection_mark(const struct text_list *names, int *wanted)
{
    int code = EXIT_DONE;
    memset(wanted, 0, (size_t)selection_count() * sizeof *wanted);
    if (!names->count)
        return mark_named("all", wanted);
    for (size_t i = 0; i < names->count && !code; i++)
        code = mark_named(names->items[i], wanted);
    return code;
}

/* Whether a named algorithm, "all" is none, is for another device; then also the sentence. */
static bool is_for_another(const char *name, csrconv_device device, char sentence[128])
{
    const int index = find_named(name);
    const csrconv_device its = index < 0 ? device : selection_info(index).device;
    snprintf(sentence, 128, "%s is for %s, the device is %s", name, selection_device_kind(its),
             selection_device_kind(device));
    return its != device;
}

int selection_mark_of(const struct text_list *names, csrconv_device device, int *wanted)
{
    char sentence[128];
    size_t others = 0;
    const int code = selection_mark(names, wanted);
    if (code)
        return code;
    for (size_t i = 0; i < names->count; i++)
        others += is_for_another(names->items[i], device, sentence);
    if (others && others == names->count)
        return complain(EXIT_REFUSED, "--algo", "%s", sentence);
    for (size_t i = 0; i < names->count; i++)
        if (is_for_another(names->items[i], device, sentence))
            fprintf(stderr, "warning: %s: it is left out\n", sentence);
    return EXIT_DONE;
}

int selection_complain(const char *where, csrconv_status status)
{
    const int families[] = {
        EXIT_DONE, EXIT_REFUSED, EXIT_BAD, EXIT_REFUSED, EXIT_WRONG, EXIT_WRONG
    };
    const int family = (int)status / 1000;
    return complain(family < 6 ? families[family] : EXIT_WRONG, where, "%s", csrconv_last_error());
}
