/* The store: whose folders it takes, what it keeps, what goes first. */
#include "folder_fixture.h"
#include "helpers.h"

#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100, SOME = 40 };

static struct store *open_store(struct folder *folder)
{
    char why[STORE_WHY];
    struct store *store = store_open(folder_path(folder, "store"), MOST, why);
    assert_non_null(store);
    return store;
}

static void keep(const struct store *store, const char *name, char letter, size_t size)
{
    char bytes[MOST], why[STORE_WHY];
    memset(bytes, letter, size);
    assert_true(store_write(store, name, bytes, size, why));
}

/* Whether it is there, whole. */
static bool has(const struct store *store, const char *name, char letter)
{
    size_t size = 0;
    char *bytes = store_read(store, name, &size);
    bool is_right = bytes && size;
    for (size_t i = 0; i < size; i++)
        is_right = is_right && bytes[i] == letter;
    free(bytes);
    return is_right;
}

static void refuse(struct folder *folder, const char *entry, const char *fragment)
{
    char why[STORE_WHY] = "";
    assert_null(store_open(folder_path(folder, entry), MOST, why));
    assert_non_null(strstr(why, fragment));
}

static void things_are_kept(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    struct stat status;
    assert_int_equal(stat(folder_path(folder, "store"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_false(has(store, "a", 'a'));
    keep(store, "a", 'a', SOME);
    keep(store, "b", 'b', 1);
    keep(store, "a", 'c', SOME / 2); /* in place of the other */
    store_close(store);
    store = open_store(folder);
    assert_true(has(store, "a", 'c'));
    assert_true(has(store, "b", 'b'));
    assert_int_equal(folder_count(folder_path(folder, "store")), 2);
    store_remove(store, "a");
    assert_false(has(store, "a", 'c'));
    store_close(store);
    store_close(NULL);
}

static void folders_that_others_see_are_refused(void **state)
{
    static const mode_t modes[] = { 0701, 0710, 0720, 0755, 0777, 0500 };
    struct folder *folder = *state;
    for (int i = 0; i < COUNT_OF(modes); i++) {
        assert_true(mkdir(folder_path(folder, "open"), 0700) == 0 || i > 0);
        assert_int_equal(chmod(folder_path(folder, "open"), modes[i]), 0);
        refuse(folder, "open", "must be 700");
    }
}

static void folders_of_others_are_refused(void **state)
{
    struct folder *folder = *state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make a folder of somebody else's\n");
        skip();
    }
    assert_int_equal(mkdir(folder_path(folder, "other"), 0700), 0);
    assert_int_equal(chown(folder_path(folder, "other"), 12345, (gid_t)-1), 0);
    refuse(folder, "other", "belongs to user 12345");
}

static void what_is_no_folder_is_refused(void **state)
{
    struct folder *folder = *state;
    assert_int_equal(mkdir(folder_path(folder, "real"), 0700), 0);
    assert_int_equal(symlink("real", folder_path(folder, "link")), 0);
    refuse(folder, "link", "cannot be opened");
    close(open(folder_path(folder, "file"), O_CREAT | O_WRONLY, 0600));
    refuse(folder, "file", "cannot be opened");
    refuse(folder, "no/such", "cannot be made");
}

/* Names in the folder that are no files of the user's, whoever put them there. */
static void what_is_no_file_is_not_read(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    keep(store, "a", 'a', SOME);
    assert_int_equal(symlink("a.csrconv", folder_path(folder, "store/link.csrconv")), 0);
    assert_int_equal(mkfifo(folder_path(folder, "store/pipe.csrconv"), 0600), 0);
    assert_int_equal(mkdir(folder_path(folder, "store/folder.csrconv"), 0700), 0);
    close(open(folder_path(folder, "store/empty.csrconv"), O_CREAT | O_WRONLY, 0600));
    assert_false(has(store, "link", 'a'));
    assert_false(has(store, "pipe", 'a'));
    assert_false(has(store, "folder", 'a'));
    assert_false(has(store, "empty", 'a'));
    /* A link is replaced, not written through. */
    keep(store, "link", 'b', 1);
    assert_true(has(store, "a", 'a'));
    assert_true(has(store, "link", 'b'));
    store_close(store);
}

static void use_at(struct folder *folder, const char *entry, time_t seconds)
{
    const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
    assert_int_equal(utimensat(AT_FDCWD, folder_path(folder, entry), times, 0), 0);
}

static void what_was_not_used_for_long_goes_first(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    keep(store, "a", 'a', SOME);
    keep(store, "b", 'b', SOME);
    use_at(folder, "store/a.csrconv", 1000);
    use_at(folder, "store/b.csrconv", 2000);
    assert_true(has(store, "a", 'a')); /* which is a use */
    keep(store, "c", 'c', SOME);
    assert_true(has(store, "a", 'a') && has(store, "c", 'c'));
    assert_false(has(store, "b", 'b'));
    keep(store, "d", 'd', MOST);
    assert_true(has(store, "d", 'd'));
    assert_int_equal(folder_count(folder_path(folder, "store")), 1);
    store_close(store);
}

/* Clocks differ: what claims to be used tomorrow does not push out what is new. */
static void what_was_written_last_stays(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    keep(store, "a", 'a', MOST - SOME);
    use_at(folder, "store/a.csrconv", time(NULL) + 86400);
    keep(store, "b", 'b', MOST);
    assert_true(has(store, "b", 'b'));
    assert_false(has(store, "a", 'a'));
    store_close(store);
}

/* Files that a process left when it was killed count, and go as the rest does. */
static void what_was_left_behind_goes(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    keep(store, "a", 'a', SOME);
    keep(store, ".1-2-3", 'l', MOST - SOME);
    use_at(folder, "store/.1-2-3.csrconv", 1000);
    keep(store, "b", 'b', SOME);
    assert_true(has(store, "a", 'a') && has(store, "b", 'b'));
    assert_false(has(store, ".1-2-3", 'l'));
    store_close(store);
}

/* More of them than a list begins with. */
static void many_go_at_once(void **state)
{
    enum { MANY = 1000 };
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    for (int i = 0; i < MANY; i++) {
        char name[40];
        int file;
        snprintf(name, sizeof name, "store/%d.csrconv", i);
        file = open(folder_path(folder, name), O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(file, "1234567890", 10), 10);
        close(file);
    }
    keep(store, "a", 'a', SOME);
    assert_true(has(store, "a", 'a'));
    assert_int_equal(folder_count(folder_path(folder, "store")), 1 + (MOST - SOME) / 10);
    store_close(store);
}

/* A folder that the user keeps other files in: those are not the store's to remove or to count. */
static void files_of_others_stay(void **state)
{
    static const char *const others[] = { "store/a", "store/letter.txt", "store/.csrconv",
                                          "store/.1-2-3.tmp" };
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    for (int i = 0; i < COUNT_OF(others); i++) {
        const int file = open(folder_path(folder, others[i]), O_CREAT | O_WRONLY, 0600);
        assert_int_equal(ftruncate(file, 2 * MOST), 0);
        close(file);
        use_at(folder, others[i], 1000);
    }
    assert_false(has(store, "a", '\0'));
    keep(store, "a", 'a', SOME);
    keep(store, "b", 'b', SOME);
    assert_true(has(store, "a", 'a') && has(store, "b", 'b'));
    assert_int_equal(folder_count(folder_path(folder, "store")), 2 + COUNT_OF(others));
    store_close(store);
}

static void what_is_too_large_is_not_kept(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    char bytes[MOST + 1] = "", why[STORE_WHY] = "";
    assert_false(store_write(store, "a", bytes, sizeof bytes, why));
    assert_non_null(strstr(why, "101 bytes"));
    assert_int_equal(folder_count(folder_path(folder, "store")), 0);
    store_close(store);
}

static void failures_are_told(void **state)
{
    struct folder *folder = *state;
    struct store *store = open_store(folder);
    char why[STORE_WHY] = "";
    assert_int_equal(mkdir(folder_path(folder, "store/a.csrconv"), 0700), 0);
    assert_false(store_write(store, "a", "x", 1, why));
    assert_non_null(strstr(why, "cannot be renamed"));
    assert_int_equal(folder_count(folder_path(folder, "store")), 1);
    assert_int_equal(rmdir(folder_path(folder, "store/a.csrconv")), 0);
    assert_int_equal(rmdir(folder_path(folder, "store")), 0);
    assert_false(store_write(store, "a", "x", 1, why));
    assert_non_null(strstr(why, "cannot be written to"));
    store_close(store);
}

/* Several at once, on one name and more bytes than there may be: never a part, never too many. */
struct writer {
    struct folder *folder;
    char letter;
    int parts;
};

static void *write_and_read(void *argument)
{
    enum { ROUNDS = 200 };
    struct writer *writer = argument;
    char why[STORE_WHY], path[PATH_MAX], bytes[SOME];
    struct store *store;
    snprintf(path, sizeof path, "%s/store", writer->folder->name);
    store = store_open(path, MOST, why);
    memset(bytes, writer->letter, sizeof bytes);
    for (int i = 0; store && i < ROUNDS; i++) {
        const char name[] = { (char)('a' + i % 4), '\0' };
        size_t size = 0;
        char *read;
        store_write(store, name, bytes, sizeof bytes, why);
        read = store_read(store, name, &size);
        writer->parts += read && (size != SOME || memcmp(read, read + 1, SOME - 1) != 0);
        free(read);
    }
    store_close(store);
    return NULL;
}

static void writers_do_not_meet(void **state)
{
    enum { WRITERS = 4 };
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    struct folder *folder = *state;
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ folder, (char)('k' + i), 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(writers[i].parts, 0);
    }
    assert_in_range(folder_count(folder_path(folder, "store")), 1, MOST / SOME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_folder(things_are_kept),
        with_folder(folders_that_others_see_are_refused),
        with_folder(folders_of_others_are_refused),
        with_folder(what_is_no_folder_is_refused),
        with_folder(what_is_no_file_is_not_read),
        with_folder(what_was_not_used_for_long_goes_first),
        with_folder(what_was_written_last_stays),
        with_folder(what_was_left_behind_goes),
        with_folder(many_go_at_once),
        with_folder(files_of_others_stay),
        with_folder(what_is_too_large_is_not_kept),
        with_folder(failures_are_told),
        with_folder(writers_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
