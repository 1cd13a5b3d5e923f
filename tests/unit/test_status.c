/* Statuses, versions and the sentence kept for each thread. */
#include "helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const csrconv_status statuses[] = {
    CSRCONV_OK,           CSRCONV_VERSION_MISMATCH, CSRCONV_NO_DEVICE,  CSRCONV_BAD_ARGUMENT,
    CSRCONV_BAD_GEOMETRY, CSRCONV_BAD_CSR,          CSRCONV_BAD_BUFFER, CSRCONV_UNKNOWN_ALGORITHM,
    CSRCONV_BAD_BLOB,     CSRCONV_NOT_SUPPORTED,    CSRCONV_NOT_BUILT,  CSRCONV_OUT_OF_MEMORY,
    CSRCONV_INTERNAL,     CSRCONV_EXECUTION_FAILED,
};

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(statuses); i++) {
        assert_int_equal(strncmp(csrconv_status_string(statuses[i]), "CSRCONV_", 8), 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(csrconv_status_string(statuses[i]),
                                    csrconv_status_string(statuses[j]));
    }
    assert_string_equal(csrconv_status_string(CSRCONV_BAD_CSR), "CSRCONV_BAD_CSR");
}

static void other_numbers_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(csrconv_status_string((csrconv_status)1), "unknown status");
    assert_string_equal(csrconv_status_string((csrconv_status)2999), "unknown status");
}

static void the_version_is_that_of_the_header(void **state)
{
    char text[32];
    (void)state;
    assert_int_equal(csrconv_version(), CSRCONV_VERSION);
    snprintf(text, sizeof text, "%d.%d.%d", CSRCONV_VERSION_MAJOR, CSRCONV_VERSION_MINOR,
             CSRCONV_VERSION_PATCH);
    assert_string_equal(csrconv_version_string(), text);
}

/* On a thread of its own: "" first, and its failure is not seen outside. */
static void *fail_there(void *argument)
{
    char *seen = argument;
    csrconv_weights *weights;
    if (csrconv_last_error()[0] != '\0')
        return NULL;
    csrconv_weights_from_dense(NULL, 1, 1, 1, 1, NULL, &weights);
    snprintf(seen, 64, "%s", csrconv_last_error());
    return NULL;
}

static void sentences_belong_to_their_thread(void **state)
{
    char seen[64] = "";
    pthread_t thread;
    (void)state;
    assert_fails(csrconv_output_size(NULL, NULL, NULL), CSRCONV_BAD_ARGUMENT, "geometry is NULL");
    assert_int_equal(pthread_create(&thread, NULL, fail_there, seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen, "oihw is NULL");
    assert_string_equal(csrconv_last_error(), "geometry is NULL");
}

static void success_leaves_the_last_sentence(void **state)
{
    const csrconv_geometry g = geometry_of(1, 1, 1, 1, 1, 1);
    (void)state;
    assert_fails(csrconv_output_size(NULL, NULL, NULL), CSRCONV_BAD_ARGUMENT, "geometry is NULL");
    assert_ok(csrconv_output_size(&g, NULL, NULL));
    assert_string_equal(csrconv_last_error(), "geometry is NULL");
}

static void the_cpu_is_usable_and_says_what_is_not(void **state)
{
    (void)state;
    assert_ok(csrconv_device_usable(CSRCONV_DEVICE_CPU, 0));
    assert_ok(csrconv_device_usable(CSRCONV_DEVICE_AUTO, 0));
    assert_fails(csrconv_device_usable(CSRCONV_DEVICE_CPU, 1), CSRCONV_NO_DEVICE, "cpu:1");
    assert_fails(csrconv_device_usable(CSRCONV_DEVICE_CPU, -1), CSRCONV_BAD_ARGUMENT, "-1");
    assert_fails(csrconv_device_usable((csrconv_device)7, 0), CSRCONV_BAD_ARGUMENT, "7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(other_numbers_are_unknown),
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(sentences_belong_to_their_thread),
        cmocka_unit_test(success_leaves_the_last_sentence),
        cmocka_unit_test(the_cpu_is_usable_and_says_what_is_not),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
