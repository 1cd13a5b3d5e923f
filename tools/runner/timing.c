#include "timing.h"

#include "clock.h"
#include "complain.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 30, LEAST_ROUNDS = 5, MOST_EXECUTES = 20 };

static const double slow_trial_us = 3e5; /* after this much, LEAST_ROUNDS are enough */

void timing_init(struct timing *timing, const char *name, struct trial *const *trials,
                 int64_t length)
{
    memset(timing, 0, sizeof *timing);
    timing->name = name;
    timing->trials = trials;
    timing->length = length;
}

static csrconv_status execute(const void *context)
{
    const struct timing *timing = context;
    csrconv_status status = CSRCONV_OK;
    for (int64_t i = 0; i < timing->length && !status; i++)
        status = trial_execute_timed(timing->trials[i]);
    return status;
}

static bool has_passes(const struct trial *trial)
{
    return !trial_is_without_layout(trial) && trial_lay_out(trial) != CSRCONV_NOT_SUPPORTED;
}

/* The passes of those that have any. */
static csrconv_status lay_out(const void *context)
{
    const struct timing *timing = context;
    csrconv_status status = CSRCONV_OK;
    for (int64_t i = 0; i < timing->length && !status; i++) {
        status = trial_is_without_layout(timing->trials[i]) ? CSRCONV_NOT_SUPPORTED
                                                            : trial_lay_out(timing->trials[i]);
        if (status == CSRCONV_NOT_SUPPORTED)
            status = CSRCONV_OK;
    }
    return status;
}

static struct row row_of(const struct timing *timing, place_call *call, int64_t count)
{
    return (struct row){ .name = timing->name, .call = call, .context = timing, .count = count };
}

static const struct place *place_of_row(const struct timing *timing)
{
    return timing->trials[0]->stage->place;
}

int timing_rehearse(const struct timing *timing)
{
    const struct place *place = place_of_row(timing);
    struct row row = row_of(timing, execute, 1);
    double us;
    int code = place->record(&row);
    if (!code)
        code = place->replay(&row, &us);
    place->forget(&row);
    return code;
}

/* Microseconds of one call of a row. */
static int take_sample(const struct place *place, const struct row *row, double *us)
{
    const int code = place->replay(row, us);
    if (!code)
        *us /= (double)row->count;
    return code;
}

/* Executes that fill a sample, of which one takes that long. */
static int64_t executes_of(const struct place *place, double us,
                           const struct timing_options *options)
{
    if (options->is_cold || options->is_single)
        return 1;
    return place->row_us > 0.0 && us * MOST_EXECUTES > place->row_us
               ? (int64_t)(place->row_us / us) + 1
               : MOST_EXECUTES;
}

/*
 * Twice untimed, for caches, page tables and threads; the second says how many fill a sample. Then
 * for as long as the device takes to get up to speed.
 */
static int warm_up(struct timing *timing, const struct timing_options *options)
{
    const struct place *place = place_of_row(timing);
    struct row *row = &timing->row;
    double us = 0.0, spent_us = 0.0;
    int code;
    timing->samples = 0;
    *row = row_of(timing, execute, 1);
    if ((code = place->record(row)) || (code = place->warm(row)) ||
        (code = take_sample(place, row, &us)))
        return code;
    place->forget(row);
    row->count = executes_of(place, us, options);
    code = place->record(row);
    while (!code && spent_us < place->warm_up_us) {
        code = place->replay(row, &us);
        spent_us += us;
    }
    return code;
}

static bool is_done(int count, int64_t rounds, double elapsed_us,
                    const struct timing_options *options)
{
    const bool is_slow = elapsed_us > slow_trial_us * count;
    if (rounds >= TIMING_MOST_SAMPLES)
        return true;
    if (elapsed_us < options->min_time_s * 1e6 * count)
        return false;
    return rounds >= (is_slow ? LEAST_ROUNDS : ROUNDS);
}

static int take_turn(struct timing *timing, const struct timing_options *options)
{
    const struct place *place = place_of_row(timing);
    const int code = options->is_cold ? place->flush() : place->warm(&timing->row);
    return code ? code : take_sample(place, &timing->row, &timing->sample_us[timing->samples++]);
}

static int time_row(const struct place *place, struct row *row, double *median_us)
{
    double samples[LEAST_ROUNDS];
    int code = place->record(row);
    for (int i = 0; i < LEAST_ROUNDS && !code; i++)
        if (!(code = place->warm(row)))
            code = take_sample(place, row, &samples[i]);
    place->forget(row);
    if (!code)
        *median_us = statistics_of(samples, LEAST_ROUNDS).median;
    return code;
}

static int time_lay_out(struct timing *timing)
{
    struct row row = row_of(timing, lay_out, timing->row.count);
    bool has_any = false;
    for (int64_t i = 0; i < timing->length && !has_any; i++)
        has_any = has_passes(timing->trials[i]);
    timing->prepare_us = 0.0;
    return has_any ? time_row(place_of_row(timing), &row, &timing->prepare_us) : EXIT_DONE;
}

static int finish(struct timing *timing, const struct timing_options *options)
{
    (void)options;
    timing->us = statistics_of(timing->sample_us, (size_t)timing->samples);
    return time_lay_out(timing);
}

/* One step of each in turn. One that fails takes no further part. */
static void each(struct timing *timings, int count,
                 int (*step)(struct timing *, const struct timing_options *),
                 const struct timing_options *options)
{
    for (int i = 0; i < count; i++) {
        struct timing *timing = &timings[i];
        if (!timing->failure[0] && step(timing, options)) {
            snprintf(timing->failure, sizeof timing->failure, "%s", complaint());
            complain_clear();
        }
    }
}

void timing_run(struct timing *timings, int count, const struct timing_options *options)
{
    const double start = clock_us();
    each(timings, count, warm_up, options);
    for (int64_t rounds = 0; !is_done(count, rounds, clock_us() - start, options); rounds++)
        each(timings, count, take_turn, options);
    each(timings, count, finish, options);
    for (int i = 0; i < count; i++)
        place_of_row(&timings[i])->forget(&timings[i].row);
}
