/*
 * One verified measurement: the columns of the CSV, in their order. The table of columns below is
 * what the writers and the reader walk, so a new column is one member here and one line there.
 */
#ifndef CSRCONV_TOOLS_REPORT_MEASUREMENT_H
#define CSRCONV_TOOLS_REPORT_MEASUREMENT_H

#include <stddef.h>
#include <stdint.h>

struct measurement {
    const char *name;    /* of the layer, as network:layer; "" if it has none */
    const char *problem; /* its descriptor */
    int64_t batch;
    double sparsity;
    double asked; /* no column: what the sparsity was to be; 0: anything */
    int64_t nnz;
    const char *pattern; /* a file's digest, or generator and seed */
    const char *algorithm;
    int chosen; /* 1: the automatic choice */
    const char *device;
    const char *math;
    const char *layout;
    int conversion;    /* 1: a layout conversion is inside the time */
    const char *cache; /* hot or cold */
    int64_t threads;
    int64_t samples;
    double median_us, min_us, q1_us, q3_us;
    double prepare_us; /* the part of the time that padding and layout passes take */
    double plan_us;    /* apart from the time */
    int64_t workspace_bytes, plan_bytes;
    double gflops_nnz, gflops_dense;
    const char *verified; /* full or sampled */
    double max_error;     /* as a fraction of the bound */
    const char *machine;
    int64_t sm_clock_mhz; /* 0: none, or not known */
    const char *driver;
    const char *version;
    const char *peer_version;
    const char *peer_algorithm;
    const char *commit;
};

enum column_kind {
    COLUMN_TEXT,
    COLUMN_WHOLE,
    COLUMN_KNOWN, /* a whole number; 0 is not known, and an empty cell */
    COLUMN_REAL,
    COLUMN_YES_NO
};

struct measurement_column {
    const char *name; /* NULL ends the table */
    enum column_kind kind;
    size_t offset;
};

extern const struct measurement_column measurement_columns[];

const struct measurement_column *measurement_column(const char *name);

/* A pointer to the member: const char *, int64_t, double or int, as its kind says. */
void *measurement_member(struct measurement *measurement, const struct measurement_column *column);

const char *measurement_text(const struct measurement *measurement,
                             const struct measurement_column *column);
int64_t measurement_whole(const struct measurement *measurement,
                          const struct measurement_column *column);
double measurement_real(const struct measurement *measurement,
                        const struct measurement_column *column);

/*
 * The cell as the CSV shows it, in the buffer or in the measurement. Numbers that are not finite
 * are empty cells.
 */
enum { CELL_BYTES = 32 };
const char *measurement_cell(const struct measurement *measurement,
                             const struct measurement_column *column, char buffer[CELL_BYTES]);

#endif
