#include "sample.h"

#include "complain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct result sample_result(const char *layer, double sparsity, const char *algorithm,
                            enum kind kind, double median_us)
{
    const struct result result = {
        .status = RESULT_MEASURED,
        .is_peer = kind != OWN_SPARSE,
        .is_dense = kind == PEER_DENSE,
        .measurement = {
            .name = layer,
            .problem = "mb1ic256ih14oc256oh14kh3ph1n\"res\"",
            .batch = 1,
            .sparsity = sparsity,
            .nnz = (int64_t)(589824.0 * (1.0 - sparsity) + 0.5),
            .pattern = "random:1",
            .algorithm = algorithm,
            .device = "cpu",
            .math = "fp32",
            .layout = "nchw",
            .cache = "hot",
            .threads = 8,
            .samples = 30,
            .median_us = median_us,
            .min_us = median_us - 1.0,
            .q1_us = median_us - 0.5,
            .q3_us = median_us + 0.5,
            .prepare_us = kind == OWN_SPARSE ? 4.25 : 0.0,
            .plan_us = 1500.0,
            .workspace_bytes = 262144,
            .plan_bytes = 4096,
            .gflops_nnz = 12.3456789,
            .gflops_dense = 123.456789,
            .verified = "full",
            .max_error = 0.0125,
            .machine = "Example CPU, 8 cores",
            .version = "0.1.0",
            .commit = "0123abc",
        },
    };
    return result;
}

void sample_add(struct report *report, const struct result *result)
{
    assert_int_equal(report_add(report, result), EXIT_DONE);
}

void sample_start(struct report *report)
{
    report_init(report);
    strcpy(report->date, "2026-01-02T03:04:05+0000");
}

void sample_layers(struct report *report)
{
    sample_start(report);
    struct result result = sample_result("net:a", 0.9, "direct", OWN_SPARSE, 50.0);
    result.measurement.chosen = 1;
    result.estimate_us = 48.0;
    sample_add(report, &result);
    result = sample_result("net:a", 0.9, "openblas", PEER_DENSE, 150.0);
    result.measurement.peer_version = "0.3.21";
    sample_add(report, &result);
    result = sample_result("net:a", 0.9, "onednn", PEER_DENSE, 75.0);
    result.status = RESULT_FAILED;
    result.reason = "output [0, 3, 13, 0] is 1.5, not 1.25";
    sample_add(report, &result);
    result = sample_result("net:b", 0.7, "direct", OWN_SPARSE, 400.0);
    result.measurement.chosen = 1;
    result.measurement.verified = "sampled";
    sample_add(report, &result);
    result = sample_result("net:b", 0.7, "openblas", PEER_DENSE, 200.0);
    sample_add(report, &result);
    result = sample_result("net:b", 0.7, "onednn", PEER_DENSE, 75.0);
    result.status = RESULT_SKIPPED;
    result.reason = "it has no dilation";
    sample_add(report, &result);
}

/* Dense takes 100 us, sparse 20 us and 4 for each percent that is not zero. */
void sample_sweep(struct report *report)
{
    static const double sparsities[] = { 0.5, 0.7, 0.9, 0.95 };
    sample_start(report);
    for (size_t i = 0; i < sizeof sparsities / sizeof sparsities[0]; i++) {
        const double sparse_us = 20.0 + 400.0 * (1.0 - sparsities[i]);
        struct result result =
            sample_result("net:a", sparsities[i], "direct", OWN_SPARSE, sparse_us);
        sample_add(report, &result);
        result = sample_result("net:a", sparsities[i], "openblas", PEER_DENSE, 100.0);
        sample_add(report, &result);
    }
}

char *sample_write(const struct report_format *format, const struct report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(format->write(report, stream), EXIT_DONE);
    assert_int_equal(fclose(stream), 0);
    return text;
}
