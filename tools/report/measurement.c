#include "measurement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMN(member, kind)                                                                       \
    {                                                                                              \
#member, kind, offsetof(struct measurement, member)                                        \
    }

const struct measurement_column measurement_columns[] = {
    COLUMN(name, COLUMN_TEXT),
    COLUMN(problem, COLUMN_TEXT),
    COLUMN(batch, COLUMN_WHOLE),
    COLUMN(sparsity, COLUMN_REAL),
    COLUMN(nnz, COLUMN_WHOLE),
    COLUMN(pattern, COLUMN_TEXT),
    COLUMN(algorithm, COLUMN_TEXT),
    COLUMN(chosen, COLUMN_YES_NO),
    COLUMN(device, COLUMN_TEXT),
    COLUMN(math, COLUMN_TEXT),
    COLUMN(layout, COLUMN_TEXT),
    COLUMN(conversion, COLUMN_YES_NO),
    COLUMN(cache, COLUMN_TEXT),
    COLUMN(threads, COLUMN_WHOLE),
    COLUMN(samples, COLUMN_WHOLE),
    COLUMN(median_us, COLUMN_REAL),
    COLUMN(min_us, COLUMN_REAL),
    COLUMN(q1_us, COLUMN_REAL),
    COLUMN(q3_us, COLUMN_REAL),
    COLUMN(prepare_us, COLUMN_REAL),
    COLUMN(plan_us, COLUMN_REAL),
    COLUMN(workspace_bytes, COLUMN_WHOLE),
    COLUMN(plan_bytes, COLUMN_WHOLE),
    COLUMN(gflops_nnz, COLUMN_REAL),
    COLUMN(gflops_dense, COLUMN_REAL),
    COLUMN(verified, COLUMN_TEXT),
    COLUMN(max_error, COLUMN_REAL),
    COLUMN(machine, COLUMN_TEXT),
    COLUMN(sm_clock_mhz, COLUMN_KNOWN),
    COLUMN(driver, COLUMN_TEXT),
    COLUMN(version, COLUMN_TEXT),
    COLUMN(peer_version, COLUMN_TEXT),
    COLUMN(peer_algorithm, COLUMN_TEXT),
    COLUMN(commit, COLUMN_TEXT),
    { NULL, COLUMN_TEXT, 0 },
};

const struct measurement_column *measurement_column(const char *name)
{
    for (const struct measurement_column *column = measurement_columns; column->name; column++)
        if (strcmp(column->name, name) == 0)
            return column;
    return NULL;
}

void *measurement_member(struct measurement *measurement, const struct measurement_column *column)
{
    return (char *)measurement + column->offset;
}

static const void *member(const struct measurement *measurement,
                          const struct measurement_column *column)
{
    return (const char *)measurement + column->offset;
}

const char *measurement_text(const struct measurement *measurement,
                             const struct measurement_column *column)
{
    return *(const char *const *)member(measurement, column);
}

int64_t measurement_whole(const struct measurement *measurement,
                          const struct measurement_column *column)
{
    return *(const int64_t *)member(measurement, column);
}

double measurement_real(const struct measurement *measurement,
                        const struct measurement_column *column)
{
    return *(const double *)member(measurement, column);
}

static int yes(const struct measurement *measurement, const struct measurement_column *column)
{
    return *(const int *)member(measurement, column);
}

const char *measurement_cell(const struct measurement *measurement,
                             const struct measurement_column *column, char buffer[CELL_BYTES])
{
    buffer[0] = '\0';
    switch (column->kind) {
    case COLUMN_TEXT:
        return measurement_text(measurement, column);
    case COLUMN_YES_NO:
        return yes(measurement, column) ? "yes" : "no";
    case COLUMN_KNOWN:
        if (measurement_whole(measurement, column) == 0)
            break;
        /* fall through */
    case COLUMN_WHOLE:
        snprintf(buffer, CELL_BYTES, "%" PRId64, measurement_whole(measurement, column));
        break;
    case COLUMN_REAL:
        if (isfinite(measurement_real(measurement, column)))
            snprintf(buffer, CELL_BYTES, "%.6g", measurement_real(measurement, column));
        break;
    }
    return buffer;
}
