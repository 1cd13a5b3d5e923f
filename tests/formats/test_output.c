/* Outputs: whole or not there, whatever fails, and no temporary file stays behind. */
#define _DEFAULT_SOURCE /* mknod */

#include "format_helpers.h"

#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

/* Every test works in an empty directory of its own. */
static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/csrconv-test-XXXXXX");
    complain_clear();
    umask(022);
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

/* Files in the directory; the names are removed if asked. */
static int count_files(const char *path, bool remove_them)
{
    int count = 0;
    DIR *const files = opendir(path);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            if (remove_them)
                remove(entry->d_name);
        }
    closedir(files);
    return count;
}

static int leave_directory(void **state)
{
    (void)state;
    count_files(directory, true);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_file(const char *path, const char *text)
{
    char content[256] = "";
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(text));
    assert_string_equal(content, text);
}

static struct output *open_and_write(const char *path, const char *text)
{
    struct output *output;
    if (output_open(path, &output) != EXIT_DONE)
        fail_msg("%s", complaint());
    fputs(text, output_stream(output));
    return output;
}

static void write_whole(const char *path, const char *text)
{
    struct output *output = open_and_write(path, text);
    if (output_commit(&output) != EXIT_DONE)
        fail_msg("%s", complaint());
    assert_null(output);
}

static void assert_cannot_open(const char *path, const char *part)
{
    struct output *output;
    assert_int_equal(output_open(path, &output), EXIT_BAD);
    assert_null(output);
    if (!strstr(complaint(), part))
        fail_msg("\"%s\" instead of \"%s\"", complaint(), part);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 0777;
}

/* Runs a function in a child process and returns how it ended, as waitpid tells. */
static int in_child(void (*function)(int), int argument)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        function(argument);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void writes_new_and_existing_files(void **state)
{
    (void)state;
    write_whole("new", "one");
    assert_file("new", "one");
    write_whole("new", "two");
    assert_file("new", "two");
    assert_int_equal(count_files(".", false), 1);
}

static void shows_nothing_before_the_commit(void **state)
{
    (void)state;
    write_file("old", "old");
    struct output *first = open_and_write("old", "new");
    struct output *second = open_and_write("other", "new");
    fflush(NULL);
    assert_file("old", "old");
    assert_int_not_equal(access("other", F_OK), 0);
    output_abandon(&first);
    output_abandon(&second);
    output_abandon(&second);
    assert_file("old", "old");
    assert_int_equal(count_files(".", false), 1);
}

static void keeps_the_mode_of_the_target(void **state)
{
    (void)state;
    write_file("private", "old");
    assert_int_equal(chmod("private", 0640), 0);
    write_whole("private", "new");
    assert_int_equal(mode_of("private"), 0640);
    umask(027);
    write_whole("fresh", "new");
    assert_int_equal(mode_of("fresh"), 0640);
}

static void writes_through_links(void **state)
{
    char link[32] = "";
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    write_file("d/real", "old");
    assert_int_equal(symlink("real", "d/second"), 0);
    assert_int_equal(symlink("d/second", "first"), 0);
    write_whole("first", "new");
    assert_file("d/real", "new");
    assert_int_equal(readlink("first", link, sizeof link - 1), 8);
    assert_string_equal(link, "d/second");
    assert_int_equal(unlink("d/real"), 0);
    write_whole("first", "again"); /* a link to what does not exist yet */
    assert_file("d/real", "again");
    assert_int_equal(count_files("d", false), 2);
    assert_int_equal(unlink("d/real") | unlink("d/second"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_cannot_open("loop", "loop: cannot be written: Too many levels");
}

/*
 * A device that may be lost. Code that is wrong could put a file in the place of /dev/null, if it
 * runs as root: then it gets a node of its own. Skips the test where there is neither.
 */
static const char *device(const char *path, const char *node, unsigned minor_number)
{
    const bool is_root = geteuid() == 0;
    if (is_root && mknod(node, S_IFCHR | 0666, makedev(1, minor_number)) != 0) {
        print_message("skipped: %s cannot be made here: %s\n", node, strerror(errno));
        skip();
    }
    const char *const name = is_root ? node : path;
    const int descriptor = open(name, O_WRONLY);
    if (descriptor < 0) {
        print_message("skipped: %s cannot be opened here: %s\n", name, strerror(errno));
        skip();
    }
    close(descriptor);
    return name;
}

static const char *null_device(void)
{
    return device("/dev/null", "null", 3);
}

static const char *full_device(void)
{
    return device("/dev/full", "full", 7);
}

static void writes_devices_directly(void **state)
{
    const char *const name = null_device();
    struct stat status;
    (void)state;
    write_whole(name, "gone");
    assert_int_equal(stat(name, &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void reports_a_full_device(void **state)
{
    const char *const name = full_device();
    (void)state;
    struct output *output = open_and_write(name, "lost");
    assert_int_equal(output_commit(&output), EXIT_WRONG);
    assert_null(output);
    if (!strstr(complaint(), "full: could not be written: No space left on device"))
        fail_msg("%s", complaint());
}

static void read_fifo(int unused)
{
    (void)unused;
    FILE *const file = fopen("fifo", "r");
    char content[8] = "";
    if (file && fread(content, 1, sizeof content - 1, file) == 3 && strcmp(content, "new") == 0)
        _exit(0);
}

static void writes_fifos_directly(void **state)
{
    int status;
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    const pid_t reader = fork();
    if (reader == 0) {
        read_fifo(0);
        _exit(1);
    }
    write_whole("fifo", "new");
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    assert_int_equal(stat("fifo", &(struct stat){ 0 }), 0);
    assert_int_equal(count_files(".", false), 1);
}

static void refuses_bad_paths(void **state)
{
    char name[300];
    (void)state;
    assert_cannot_open(".", "Is a directory");
    assert_cannot_open("no/such", "no/such: cannot be written: No such file or directory");
    assert_cannot_open("", "empty name");
    write_file("file", "");
    assert_cannot_open("file/below", "Not a directory");
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    assert_cannot_open(name, "File name too long");
    name[255] = '\0';
    write_whole(name, "the longest name");
    assert_file(name, "the longest name");
    assert_int_equal(count_files(".", false), 2);
}

static void limit_and_write(int size)
{
    struct output *output;
    const struct rlimit limit = { 4096, 4096 };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || output_open("old", &output) != EXIT_DONE)
        return;
    for (int i = 0; i < size; i++)
        fputc('x', output_stream(output));
    const int code = output_commit(&output);
    if (code == EXIT_WRONG && strstr(complaint(), "old: could not be written: File too large"))
        _exit(0);
}

static void write_blocks(int size)
{
    struct output *output;
    const struct rlimit limit = { 4096, 4096 };
    static const char block[1 << 16];
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || output_open("old", &output) != EXIT_DONE)
        return;
    fwrite(block, 1, (size_t)size, output_stream(output));
    const int code = output_commit(&output);
    if (code == EXIT_WRONG && strstr(complaint(), "File too large"))
        _exit(0);
}

static void keeps_the_target_when_the_disk_is_full(void **state)
{
    (void)state;
    write_file("old", "old");
    assert_int_equal(in_child(limit_and_write, 4097), 0);
    assert_int_equal(in_child(limit_and_write, 1 << 16), 0);
    assert_int_equal(in_child(write_blocks, 1 << 16), 0);
    assert_file("old", "old");
    assert_int_equal(count_files(".", false), 1);
}

static void open_and_raise(int signal_number)
{
    struct output *first = open_and_write("old", "new");
    struct output *second = open_and_write("other", "new");
    fflush(NULL);
    if (first && second && count_files(".", false) == 3)
        raise(signal_number);
}

static void removes_temporaries_on_signals(void **state)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    (void)state;
    write_file("old", "old");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        const int status = in_child(open_and_raise, signals[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_file("old", "old");
        assert_int_equal(count_files(".", false), 1);
    }
}

static void ignore_and_raise(int signal_number)
{
    signal(signal_number, SIG_IGN);
    struct output *output = open_and_write("old", "new");
    raise(signal_number);
    _exit(output_commit(&output));
}

static void leaves_ignored_signals_ignored(void **state)
{
    (void)state;
    write_file("old", "old");
    assert_int_equal(in_child(ignore_and_raise, SIGHUP), 0);
    assert_file("old", "new");
}

static void write_standard_output(int descriptor)
{
    struct output *output;
    if (dup2(descriptor, STDOUT_FILENO) < 0)
        return;
    output = open_and_write("-", "one ");
    int code = output_commit(&output);
    if (code == EXIT_DONE) {
        output = open_and_write("/dev/stdout", "two");
        code = output_commit(&output);
    }
    _exit(code);
}

static void writes_standard_output(void **state)
{
    (void)state;
    write_file("old", "zero ");
    const int descriptor = open("old", O_WRONLY | O_APPEND);
    assert_int_equal(WEXITSTATUS(in_child(write_standard_output, descriptor)), EXIT_DONE);
    close(descriptor);
    assert_file("old", "zero one two");
    assert_int_equal(count_files(".", false), 1);
}

static void reports_standard_output_that_is_full(void **state)
{
    const int descriptor = open(full_device(), O_WRONLY);
    (void)state;
    assert_int_equal(WEXITSTATUS(in_child(write_standard_output, descriptor)), EXIT_WRONG);
    close(descriptor);
}

static void reports_a_rename_that_fails(void **state)
{
    (void)state;
    struct output *output = open_and_write("late", "new");
    assert_int_equal(mkdir("late", 0777), 0);
    assert_int_equal(output_commit(&output), EXIT_WRONG);
    assert_non_null(strstr(complaint(), "late: could not be written"));
    assert_int_equal(count_files(".", false), 1);
}

static void has_room_for_sixteen(void **state)
{
    struct output *outputs[16], *more;
    (void)state;
    for (int i = 0; i < 16; i++)
        outputs[i] = open_and_write("same", "x");
    assert_int_equal(output_open("same", &more), EXIT_WRONG);
    for (int i = 0; i < 16; i++)
        output_abandon(&outputs[i]);
    write_whole("same", "y");
    assert_int_equal(count_files(".", false), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_new_and_existing_files),
        TEST(shows_nothing_before_the_commit),
        TEST(keeps_the_mode_of_the_target),
        TEST(writes_through_links),
        TEST(writes_devices_directly),
        TEST(reports_a_full_device),
        TEST(writes_fifos_directly),
        TEST(refuses_bad_paths),
        TEST(keeps_the_target_when_the_disk_is_full),
        TEST(removes_temporaries_on_signals),
        TEST(leaves_ignored_signals_ignored),
        TEST(writes_standard_output),
        TEST(reports_standard_output_that_is_full),
        TEST(reports_a_rename_that_fails),
        TEST(has_room_for_sixteen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
