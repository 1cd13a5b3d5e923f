/*
 * Runs a fuzz target over every file of a directory, without libFuzzer:
 *     replay_FORMAT DIRECTORY
 */
#include "harness.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Hands over a copy of exactly the file's size, so that a sanitizer sees every byte too far. */
static bool replay(const char *path)
{
    FILE *const file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return false;
    const long size = ftell(file);
    uint8_t *const data = size >= 0 ? malloc((size_t)size + (size == 0)) : NULL;
    rewind(file);
    const bool whole = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (whole)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return whole;
}

int main(int argc, char **argv)
{
    DIR *const directory = argc == 2 ? opendir(argv[1]) : NULL;
    int count = 0;
    if (!directory) {
        fprintf(stderr, "usage: replay DIRECTORY\n");
        return EXIT_FAILURE;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (!replay(path)) {
            fprintf(stderr, "%s: cannot be read\n", path);
            return EXIT_FAILURE;
        }
        count++;
    }
    closedir(directory);
    printf("%d inputs\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
