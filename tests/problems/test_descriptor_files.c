/*
 * Descriptors in files: faults named by line, and the descriptors of benchdnn's own lists.
 * Argument: the directory of handed data, which need not be there.
 */
#include "complain.h"
#include "csv_reader.h"
#include "problem/descriptor.h"
#include "problem/text_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77 }; /* as Meson reads it */

static const char *const list_path = "test_descriptor_files.txt";

static int load(const char *text, size_t size, struct problem_list *list)
{
    FILE *file = fopen(list_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    char argument[64];
    snprintf(argument, sizeof argument, "@%s", list_path);
    complain_clear();
    const int code = descriptor_load(argument, list);
    remove(list_path);
    return code;
}

static void reads_lists(void **state)
{
    (void)state;
    struct problem_list list = { 0 };
    const char text[] = "# a comment\r\n\n  ic1ih5oc1kh3n\"one\"  # and another\r\n"
                        "\t\nic2ih5oc1kh3nname#2";
    assert_int_equal(load(text, strlen(text), &list), EXIT_DONE);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0].name, "one");
    assert_string_equal(list.items[1].name, "name#2");
    problem_list_clear(&list);
    assert_null(list.items);
}

static void names_faulty_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        int code;
        const char *complaint;
    } faults[] = {
        { "\nic1ih5oc1kh3\nic1ih5oc1\n", 24, EXIT_BAD,
          "test_descriptor_files.txt:3: ic1ih5oc1: the kernel size is missing" },
        { "ic1id5oc1kd3", 12, EXIT_REFUSED, "txt:1: ic1id5oc1kd3: the key id" },
        { "# none\n\n", 8, EXIT_BAD, "no descriptor" },
        { "", 0, EXIT_BAD, "no descriptor" },
        { "ic1ih5oc1kh3\0\n", 14, EXIT_BAD, "NUL" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct problem_list list = { 0 };
        const int code = load(faults[i].text, faults[i].size, &list);
        if (code != faults[i].code || !strstr(complaint(), faults[i].complaint))
            fail_msg("code %d, complaint: %s", code, complaint());
        problem_list_clear(&list);
    }
}

static void names_missing_files(void **state)
{
    (void)state;
    struct problem_list list = { 0 };
    assert_int_equal(descriptor_load("@no such file", &list), EXIT_BAD);
    assert_non_null(strstr(complaint(), "no such file: "));
    assert_int_equal(descriptor_load("@.", &list), EXIT_BAD);
    assert_int_equal(descriptor_load("@", &list), EXIT_BAD);
    assert_null(list.items);
}

/* A column of the list of shapes; negative padding stands for rows left over. */
static int64_t shape(const struct csv *csv, const char *column, int64_t least)
{
    int64_t value;
    if (csv_integer(csv, csv_column(csv, column), -1000, &value) != EXIT_DONE)
        fail_msg("%s", complaint());
    return value < least ? least : value;
}

static csrconv_geometry shape_of_row(const struct csv *csv)
{
    csrconv_geometry g;
    csrconv_geometry_init(&g);
    g.batch = *csv_cell(csv, csv_column(csv, "mb")) ? shape(csv, "mb", 1) : 2;
    g.groups = shape(csv, "groups", 1);
    g.channels = shape(csv, "ic", 1);
    g.filters = shape(csv, "oc", 1);
    g.height = shape(csv, "ih", 1);
    g.width = shape(csv, "iw", 1);
    g.kernel_h = shape(csv, "kh", 1);
    g.kernel_w = shape(csv, "kw", 1);
    g.stride_h = shape(csv, "sh", 1);
    g.stride_w = shape(csv, "sw", 1);
    g.dilation_h = shape(csv, "dil_h", 1);
    g.dilation_w = shape(csv, "dil_w", 1);
    g.pad_top = shape(csv, "pad_t", 0);
    g.pad_left = shape(csv, "pad_l", 0);
    g.pad_bottom = shape(csv, "pad_b", 0);
    g.pad_right = shape(csv, "pad_r", 0);
    return g;
}

/*
 * Three one-dimensional problems leave ow out. The list reads oh for it, which crops the input;
 * benchdnn computes it, and so do we: a convolution without padding.
 */
static bool is_misread(const struct csv *csv)
{
    return shape(csv, "pad_r", -1000) <= -shape(csv, "sw", 1);
}

/* Returns whether the list misread its own descriptor. */
static bool check_row(const struct csv *csv)
{
    const char *original = csv_cell(csv, csv_column(csv, "original"));
    const csrconv_geometry want = shape_of_row(csv);
    const bool misread = is_misread(csv);
    struct problem problem, again;
    char text[PROBLEM_TEXT_SIZE];
    int64_t out_h, out_w;
    if (descriptor_parse(original, original, &problem) != EXIT_DONE)
        fail_msg("%s", complaint());
    if (csrconv_output_size(&problem.geometry, &out_h, &out_w) != CSRCONV_OK ||
        out_h != shape(csv, "oh", 1) || (!misread && out_w != shape(csv, "ow", 1)) ||
        memcmp(&want, &problem.geometry, sizeof want) != 0)
        fail_msg("%s means another geometry", original);
    problem_format(&problem.geometry, text);
    if (descriptor_parse(text, text, &again) != EXIT_DONE ||
        memcmp(&want, &again.geometry, sizeof want) != 0)
        fail_msg("%s came back as another geometry: %s", original, text);
    return misread;
}

static void reads_real_descriptors(void **state)
{
    struct csv csv;
    char *text;
    size_t size;
    if (text_file_read(*state, &text, &size) != EXIT_DONE ||
        csv_open(&csv, *state, text, size) != EXIT_DONE)
        fail_msg("%s", complaint());
    int rows = 0, misread = 0;
    for (bool more = true;; rows++) {
        assert_int_equal(csv_next_row(&csv, &more), EXIT_DONE);
        if (!more)
            break;
        misread += check_row(&csv);
    }
    assert_int_equal(rows, 300);
    assert_int_equal(misread, 3);
    csv_close(&csv);
    free(text);
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file;
}

int main(int argc, char **argv)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/conformance/onednn_shapes_2d.csv", argc > 1 ? argv[1] : ".");
    const struct CMUnitTest lists[] = {
        cmocka_unit_test(reads_lists),
        cmocka_unit_test(names_faulty_lines),
        cmocka_unit_test(names_missing_files),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test_prestate(reads_real_descriptors, path),
    };
    const int failed = cmocka_run_group_tests(lists, NULL, NULL);
    if (failed)
        return failed;
    if (!is_there(path)) {
        puts("skipped: ../shared/data not present");
        return SKIPPED;
    }
    return cmocka_run_group_tests(real, NULL, NULL);
}
