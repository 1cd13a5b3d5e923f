/* The report of a reproduction on a GPU, which no test machine needs to have. */
#include "sample.h"

#include "complain.h"
#include "report/reproduction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct report *report, const char *layer, int64_t batch, const char *algorithm,
                enum kind kind, double us)
{
    struct result result = sample_result(layer, 0.9, algorithm, kind, us * (double)batch);
    struct measurement *const m = &result.measurement;
    m->batch = batch;
    m->device = "cuda:0";
    m->threads = 0;
    m->machine = "Example GPU";
    m->driver = "580.1";
    m->math = strstr(algorithm, "tf32") ? "tf32" : "fp32";
    m->peer_version = kind == OWN_SPARSE ? "" : "13.0";
    m->chosen = strcmp(algorithm, "cuda_tiled") == 0;
    if (kind == OWN_SPARSE)
        result.floors = (struct floors){ .multiply_us = us / 8.0, .load_us = us / 2.0 };
    sample_add(report, &result);
}

static void add_layer(struct report *report, const char *layer, int64_t batch)
{
    add(report, layer, batch, "cuda_direct", OWN_SPARSE, 30.0);
    add(report, layer, batch, "cuda_tiled", OWN_SPARSE, 10.0);
    add(report, layer, batch, "cublas", PEER_DENSE, 40.0);
    add(report, layer, batch, "cublas_caffe", PEER_DENSE, 80.0);
    add(report, layer, batch, "cusparse", PEER_SPARSE, 35.0);
    add(report, layer, batch, "cusparse_caffe", PEER_SPARSE, 70.0);
    add(report, layer, batch, "cudnn", PEER_DENSE, 50.0);
    add(report, layer, batch, "cudnn_tf32", PEER_DENSE, 8.0);
}

static const struct reproduction_variant variants[] = { { "complete", "as it is" },
                                                        { "unstaged", "not staged" } };

static void fill_network(struct reproduction_network *network)
{
    strcpy(network->name, "alexnet");
    strcpy(network->chart, "speed-up-alexnet.svg");
    sample_start(&network->report);
    sample_start(&network->ablation);
    for (int i = 0; i < 2; i++) {
        const char *const layer = i ? "alexnet:conv3" : "alexnet:conv2";
        add_layer(&network->report, layer, 128);
        add_layer(&network->report, layer, 1);
        add(&network->ablation, layer, 128, "complete", OWN_SPARSE, 10.0);
        add(&network->ablation, layer, 128, "unstaged", OWN_SPARSE, 15.0);
    }
}

static char *written(const struct reproduction_network *network)
{
    const struct reproduction reproduction = { .networks = network,
                                               .count = 1,
                                               .variants = variants,
                                               .variant_count = 2,
                                               .published_settings = 1 };
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(reproduction_write(&reproduction, stream), EXIT_DONE);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void free_network(struct reproduction_network *network)
{
    report_free(&network->report);
    report_free(&network->ablation);
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void sets_like_beside_like(void **state)
{
    (void)state;
    struct reproduction_network network;
    fill_network(&network);
    char *const text = written(&network);
    assert_non_null(strstr(text, "- Machine: Example GPU; device cuda:0, driver 580.1\n"));
    assert_non_null(strstr(text, "\n### batch 128, cuda:0, hot\n"));
    assert_non_null(strstr(text, "\n### batch 1, cuda:0, hot\n"));
    /* The published ranges stand where the batch is theirs, at the peers that compute alike. */
    assert_int_equal(occurrences(text, "\n| cublas_caffe | 1.07-1.23 (cuBLAS lowering) | 2 |"), 1);
    assert_int_equal(occurrences(text, "\n| cusparse_caffe | 1.31-1.42 (cuSPARSE"), 1);
    assert_int_equal(occurrences(text, "\n| cublas | - | 2 | 4.00-4.00 | 4.00x | 4.00x |"), 2);
    assert_int_equal(
        occurrences(text, "\n| the fastest fp32 peer of each layer | - | 2 | 3.50-3.50 |"), 2);
    assert_int_equal(
        occurrences(text, "\n| the fastest peer of each layer, in any arithmetic | - | 2 | 0.80-"),
        2);
    /* Half of the load floor. */
    assert_int_equal(occurrences(text, " | cuda_tiled \\* | 90 % | 10.00 | 40.00 (4.00x) | "), 2);
    assert_int_equal(occurrences(text, "| 50 % |\n"), 2);
    assert_non_null(strstr(text, "\n| alexnet:conv2 | 1280 |"));
    assert_int_equal(occurrences(text, "CPU, without a GPU"), 0);
    free(text);
    free_network(&network);
}

static void charts_show_one_csrconv(void **state)
{
    (void)state;
    struct reproduction_network network;
    struct report chart;
    fill_network(&network);
    report_init(&chart);
    assert_int_equal(reproduction_add_chart(&network, 0, &chart), EXIT_DONE);
    assert_int_equal(chart.count, 2 * 5);
    assert_int_equal(chart.results[5].measurement.batch, 128);
    assert_string_equal(chart.results[0].measurement.algorithm, "csrconv");
    assert_true(chart.results[0].measurement.median_us == 1280.0);
    char *const svg = sample_write(&report_format_svg, &chart);
    assert_null(strstr(svg, "_caffe"));
    assert_non_null(strstr(svg, "cudnn_tf32"));
    free(svg);
    report_free(&chart);
    report_init(&chart);
    assert_int_equal(reproduction_add_totals(&network, &chart), EXIT_DONE);
    assert_int_equal(chart.count, 2 * 7);
    assert_string_equal(chart.results[6].measurement.algorithm, "csrconv");
    assert_string_equal(chart.results[6].measurement.name, "alexnet: 2 pruned layers");
    assert_true(chart.results[6].measurement.median_us == 2560.0);
    report_free(&chart);
    report_init(&chart);
    assert_int_equal(reproduction_add_chart(&network, 1, &chart), EXIT_DONE);
    assert_int_equal(chart.count, network.report.count);
    report_free(&chart);
    free_network(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_like_beside_like),
        cmocka_unit_test(charts_show_one_csrconv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
