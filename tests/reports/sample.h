/* Made-up reports for the tests of the writers, with a date and times that do not change. */
#ifndef CSRCONV_TESTS_REPORTS_SAMPLE_H
#define CSRCONV_TESTS_REPORTS_SAMPLE_H

#include "report/report_format.h"

enum kind { OWN_SPARSE, PEER_DENSE, PEER_SPARSE };

/* A result like those of bench: measured, and to be changed before it is added. */
struct result sample_result(const char *layer, double sparsity, const char *algorithm,
                            enum kind kind, double median_us);

/* Adds to a report, and fails the test if that fails. */
void sample_add(struct report *report, const struct result *result);

/* An empty report with the fixed date. */
void sample_start(struct report *report);

/* Two layers at one sparsity: all that a table can show, FAILED and skipped ones too. */
void sample_layers(struct report *report);

/* One layer at four sparsities, where sparse pays from 80 %. */
void sample_sweep(struct report *report);

/* What a format writes, to be freed. */
char *sample_write(const struct report_format *format, const struct report *report);

#endif
