/* The algorithms that --algo names, for one device or another. */
#include "complain.h"
#include "selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Marks what the comma-separated names name; *marked = how many that are. */
static int mark(const char *names, csrconv_device device, int *marked)
{
    struct text_list list = { 0 };
    int *wanted = calloc((size_t)selection_count(), sizeof *wanted);
    assert_non_null(wanted);
    if (names)
        assert_int_equal(number_texts("--algo", names, &list), EXIT_DONE);
    const int code = selection_mark_of(&list, device, wanted);
    *marked = 0;
    for (int i = 0; i < selection_count(); i++)
        *marked += wanted[i];
    text_list_free(&list);
    free(wanted);
    return code;
}

static void names_are_marked(void **state)
{
    const int count = selection_count();
    int marked;
    (void)state;
    assert_int_equal(mark("direct", CSRCONV_DEVICE_CPU, &marked), EXIT_DONE);
    assert_int_equal(marked, 1);
    for (int device = CSRCONV_DEVICE_CPU; device <= CSRCONV_DEVICE_CUDA; device++) {
        assert_int_equal(mark(NULL, (csrconv_device)device, &marked), EXIT_DONE);
        assert_int_equal(marked, count);
        assert_int_equal(mark("direct,all", (csrconv_device)device, &marked), EXIT_DONE);
        assert_int_equal(marked, count);
    }
    assert_int_equal(mark("direct,nosuch", CSRCONV_DEVICE_CPU, &marked), EXIT_BAD);
}

static void names_of_another_device_are_refused(void **state)
{
    int marked;
    (void)state;
    complain_clear();
    assert_int_equal(mark("direct", CSRCONV_DEVICE_CUDA, &marked), EXIT_REFUSED);
    assert_string_equal(complaint(), "--algo: direct is for cpu, the device is cuda");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_marked),
        cmocka_unit_test(names_of_another_device_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
