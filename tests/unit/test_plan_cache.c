/* Plans by way of the cache, of a peer that compiles on the CPU. */
#include "compiler_fixture.h"
#include "folder_fixture.h"
#include "plan_fixture.h"

#include "plan_cache.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fixture *fixture;

static int make_all(void **state)
{
    if (make_fixture((void **)&fixture))
        return -1;
    compiler_reset(&fixture->options);
    return folder_make(state);
}

static int free_all(void **state)
{
    void *f = fixture;
    return free_fixture(&f) | folder_remove(state);
}

#define with_all(test) cmocka_unit_test_setup_teardown(test, make_all, free_all)

/* One plan of the fixture by a cache, as one run of the program makes it; whether it was kept. */
static void make_plan(const char *wish)
{
    struct plan_cache cache = { .wish = wish };
    csrconv_plan *plan;
    assert_ok(
        plan_cache_create(&cache, fixture->weights, &fixture->geometry, &fixture->options, &plan));
    csrconv_plan_destroy(&plan);
    plan_cache_close(&cache);
}

static void the_second_plan_is_not_compiled(void **state)
{
    const char *wish = folder_path(*state, "cache");
    make_plan(wish);
    make_plan(wish);
    assert_int_equal(compiler.compilations, 1);
    assert_int_equal(folder_count(wish), 1);
    fixture->geometry.batch++;
    make_plan(wish);
    make_plan(wish);
    assert_int_equal(compiler.compilations, 2);
    assert_int_equal(folder_count(wish), 2);
}

/* A choice is not made by what is kept of an algorithm that was named. */
static void choices_are_kept_apart(void **state)
{
    const char *wish = folder_path(*state, "cache");
    make_plan(wish);
    fixture->options.algorithm = "any";
    compiler.estimate_us = 1e9;
    make_plan(wish);
    assert_int_equal(compiler.compilations, 1);
    assert_int_equal(folder_count(wish), 1);
}

/* Calls for the one file that is kept. */
static void damage(const char *folder, void (*call)(const char *path))
{
    DIR *const entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            call(path);
    }
    closedir(entries);
}

static void cut_short(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 1), 0);
}

static void what_was_damaged_is_compiled_again(void **state)
{
    const char *wish = folder_path(*state, "cache");
    make_plan(wish);
    damage(wish, cut_short);
    make_plan(wish);
    assert_int_equal(compiler.compilations, 2);
    make_plan(wish);
    assert_int_equal(compiler.compilations, 2);
    compiler.machine = "another machine";
    make_plan(wish);
    make_plan(wish);
    assert_int_equal(compiler.compilations, 3);
    assert_int_equal(folder_count(wish), 1);
}

static void plans_are_made_without_a_cache(void **state)
{
    struct folder *folder = *state;
    make_plan("off");
    make_plan("off");
    assert_int_equal(compiler.compilations, 2);
    assert_int_equal(mkdir(folder_path(folder, "open"), 0700), 0);
    assert_int_equal(chmod(folder_path(folder, "open"), 0755), 0);
    make_plan(folder_path(folder, "open")); /* warns */
    make_plan(folder_path(folder, "no/such"));
    assert_int_equal(compiler.compilations, 4);
    assert_int_equal(folder_count(folder_path(folder, "open")), 0);
}

/* What make_plan says on standard error, which is short. */
static void warning_of(const char *wish, char *text, size_t size)
{
    const int kept = dup(STDERR_FILENO);
    int ends[2];
    ssize_t length;
    assert_int_equal(pipe(ends), 0);
    assert_return_code(dup2(ends[1], STDERR_FILENO), errno);
    make_plan(wish);
    assert_return_code(dup2(kept, STDERR_FILENO), errno);
    close(kept);
    close(ends[1]);
    length = read(ends[0], text, size - 1);
    close(ends[0]);
    assert_true(length >= 0);
    text[length] = '\0';
}

static void warnings_name_the_folder(void **state)
{
    const char *wish = folder_path(*state, "cache");
    char got[2 * PATH_MAX], want[2 * PATH_MAX];
    warning_of(wish, got, sizeof got);
    assert_string_equal(got, "");
    assert_int_equal(chmod(wish, 0755), 0);
    warning_of(wish, got, sizeof got);
    snprintf(want, sizeof want,
             "warning: %s: compiled plans are not kept: its mode is 755, must be 700\n", wish);
    assert_string_equal(got, want);
}

/* As a disk that is full: neither the program nor the plan ends by it. */
static void limits_of_file_sizes_are_warnings(void **state)
{
    const char *wish = folder_path(*state, "cache");
    struct rlimit limit, before;
    char got[2 * PATH_MAX], want[2 * PATH_MAX];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ 16, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    warning_of(wish, got, sizeof got);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    snprintf(want, sizeof want, "warning: %s: compiled plans are not kept: it cannot be written to",
             wish);
    assert_memory_equal(got, want, strlen(want));
    assert_int_equal(folder_count(wish), 0);
}

/* Not another folder, which a part of the name would be. */
static void names_are_not_cut_short(void **state)
{
    char name[PATH_MAX + 2], got[3 * PATH_MAX];
    memset(name, '/', PATH_MAX);
    memcpy(name, folder_path(*state, ""), strlen(folder_path(*state, "")));
    name[PATH_MAX] = 'a';
    name[PATH_MAX + 1] = '\0';
    warning_of(name, got, sizeof got);
    assert_non_null(strstr(got, "/a: compiled plans are not kept: it cannot be made: "));
    assert_int_equal(folder_count(((struct folder *)*state)->name), 0);
}

static void what_compiles_nothing_asks_for_no_folder(void **state)
{
    struct folder *folder = *state;
    compiler_forget_target();
    make_plan(folder_path(folder, "cache"));
    assert_int_equal(folder_count(folder->name), 0);
}

static void the_environment_names_the_folder(void **state)
{
    struct folder *folder = *state;
    assert_int_equal(setenv("XDG_CACHE_HOME", folder_path(folder, "xdg"), 1), 0);
    assert_int_equal(setenv("HOME", folder->name, 1), 0);
    make_plan(NULL);
    assert_int_equal(folder_count(folder_path(folder, "xdg/csrconv")), 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", "not/absolute", 1), 0);
    make_plan(NULL);
    assert_int_equal(folder_count(folder_path(folder, ".cache/csrconv")), 1);
    assert_int_equal(unsetenv("XDG_CACHE_HOME") | unsetenv("HOME"), 0);
    make_plan(NULL);
    assert_int_equal(compiler.compilations, 3);
}

static void failures_are_those_of_the_plan(void **state)
{
    struct plan_cache cache = { .wish = folder_path(*state, "cache") };
    csrconv_plan *plan;
    fixture->geometry.channels++;
    assert_fails(
        plan_cache_create(&cache, fixture->weights, &fixture->geometry, &fixture->options, &plan),
        CSRCONV_BAD_GEOMETRY, "channels");
    assert_null(plan);
    plan_cache_close(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_all(the_second_plan_is_not_compiled),
        with_all(choices_are_kept_apart),
        with_all(what_was_damaged_is_compiled_again),
        with_all(plans_are_made_without_a_cache),
        with_all(warnings_name_the_folder),
        with_all(limits_of_file_sizes_are_warnings),
        with_all(names_are_not_cut_short),
        with_all(what_compiles_nothing_asks_for_no_folder),
        with_all(the_environment_names_the_folder),
        with_all(failures_are_those_of_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
