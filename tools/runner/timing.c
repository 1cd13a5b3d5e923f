#include "timing.h"

#include "clock.h"
#include "complain.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 30, LEAST_ROUNDS = 5, MOST_EXECUTES = 20 };

static const double sample_aim_us = 2000.0; /* long against a clock's and a scheduler's step */
static const double slow_trial_us = 3e5;    /* after this much, LEAST_ROUNDS are enough */
static const size_t flush_bytes = 256U << 20;

static int executed(const struct trial *trial, csrconv_status status)
{
    if (!status)
        return EXIT_DONE;
    return complain(EXIT_WRONG, trial->algorithm.name, "%s", csrconv_last_error());
}

static int execute(const struct trial *trial)
{
    return executed(trial, trial_execute_timed(trial));
}

static int lay_out(const struct trial *trial)
{
    return executed(trial, trial_lay_out(trial));
}

/* One sample of `executes` calls in a row. */
static int take_sample(const struct trial *trial, int (*call)(const struct trial *trial),
                       int64_t executes, double *us)
{
    const double start = clock_us();
    int code = EXIT_DONE;
    for (int64_t i = 0; i < executes && !code; i++)
        code = call(trial);
    if (!code)
        code = trial->stage->place->finish();
    *us = (clock_us() - start) / (double)executes;
    return code;
}

/* Twice untimed, for caches, page tables and threads; the second says how many fill a sample. */
static int warm_up(struct timing *timing, const struct timing_options *options)
{
    double us = 0.0;
    int code = execute(timing->trial);
    if (!code)
        code = take_sample(timing->trial, execute, 1, &us);
    timing->executes =
        us * MOST_EXECUTES <= sample_aim_us ? MOST_EXECUTES : (int64_t)(sample_aim_us / us) + 1;
    if (options->is_cold)
        timing->executes = 1;
    timing->samples = 0;
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

/* Writes 256 MB, so that whatever the caches held of the last execute is gone. */
static void flush_caches(char *block)
{
    static int value;
    memset(block, ++value & 255, flush_bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
}

static int take_round(struct timing *timings, int count, char *flush)
{
    for (int i = 0; i < count; i++) {
        struct timing *t = &timings[i];
        int code = EXIT_DONE;
        /* Untimed: it brings back the caches, and outlasts the spinning threads of the last one. */
        if (flush)
            flush_caches(flush);
        else
            code = execute(t->trial);
        if (code)
            return code;
        code = take_sample(t->trial, execute, t->executes, &t->sample_us[t->samples++]);
        if (code)
            return code;
    }
    return EXIT_DONE;
}

static int time_lay_out(struct timing *timing)
{
    double samples[LEAST_ROUNDS];
    timing->prepare_us = 0.0;
    if (trial_is_without_layout(timing->trial) ||
        trial_lay_out(timing->trial) == CSRCONV_NOT_SUPPORTED)
        return EXIT_DONE;
    for (int i = 0; i < LEAST_ROUNDS; i++) {
        const int code = take_sample(timing->trial, lay_out, timing->executes, &samples[i]);
        if (code)
            return code;
    }
    timing->prepare_us = statistics_of(samples, LEAST_ROUNDS).median;
    return EXIT_DONE;
}

int timing_run(struct timing *timings, int count, const struct timing_options *options)
{
    char *flush = options->is_cold ? malloc(flush_bytes) : NULL;
    const double start = clock_us();
    int64_t rounds = 0;
    int code = EXIT_DONE;
    if (options->is_cold && !flush)
        return complain(EXIT_WRONG, "--cold", "no room for %zu bytes to flush the caches with",
                        flush_bytes);
    for (int i = 0; i < count && !code; i++)
        code = warm_up(&timings[i], options);
    while (!code && !is_done(count, rounds, clock_us() - start, options)) {
        code = take_round(timings, count, flush);
        rounds++;
    }
    for (int i = 0; i < count && !code; i++) {
        timings[i].us = statistics_of(timings[i].sample_us, (size_t)timings[i].samples);
        code = time_lay_out(&timings[i]);
    }
    free(flush);
    return code;
}
