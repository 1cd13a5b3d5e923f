#include "timing.h"

#include "clock.h"
#include "complain.h"

enum { ROUNDS = 30, LEAST_ROUNDS = 5, MOST_EXECUTES = 20 };

static const double slow_trial_us = 3e5; /* after this much, LEAST_ROUNDS are enough */

static csrconv_status execute(const void *trial)
{
    return trial_execute_timed(trial);
}

static csrconv_status lay_out(const void *trial)
{
    return trial_lay_out(trial);
}

static struct row row_of(const struct trial *trial, place_call *call, int64_t count)
{
    return (struct row){
        .name = trial->algorithm.name, .call = call, .context = trial, .count = count
    };
}

static const struct place *place_of_row(const struct timing *timing)
{
    return timing->trial->stage->place;
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
static int64_t executes_of(const struct place *place, double us, bool is_cold)
{
    if (is_cold)
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
    *row = row_of(timing->trial, execute, 1);
    if ((code = place->record(row)) || (code = place->warm(row)) ||
        (code = take_sample(place, row, &us)))
        return code;
    place->forget(row);
    row->count = executes_of(place, us, options->is_cold);
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
    struct row row = row_of(timing->trial, lay_out, timing->row.count);
    timing->prepare_us = 0.0;
    if (trial_is_without_layout(timing->trial) ||
        trial_lay_out(timing->trial) == CSRCONV_NOT_SUPPORTED)
        return EXIT_DONE;
    return time_row(place_of_row(timing), &row, &timing->prepare_us);
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
        struct trial *trial = timings[i].trial;
        if (trial->status == TRIAL_PASSED && step(&timings[i], options)) {
            trial_fail(trial, complaint());
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
