/* Where a plan's tensors live: a table of what has to be done differently there. */
#ifndef CSRCONV_TOOLS_PLACE_H
#define CSRCONV_TOOLS_PLACE_H

#include "algorithm.h"
#include "report/floors.h"

/* Does one thing on the place's stream, such as an execute. */
typedef csrconv_status place_call(const void *context);

/* Calls one behind the other, to be timed together. */
struct row {
    const char *name; /* whose calls, for complaints */
    place_call *call;
    const void *context;
    int64_t count;
    /* Of the place, once recorded: */
    void *graph;         /* what was captured of the calls; NULL: they are made one by one */
    char uncaptured[96]; /* why they were not captured at a place that captures; else "" */
};

/* What a device is, for people and for tables. */
struct place_device {
    char name[128];    /* its model */
    char detail[96];   /* what else is to be known of it; "": nothing */
    char driver[64];   /* version; "": it has none */
    int64_t clock_mhz; /* of its processors, as it is now; 0: not known */
};

/* Functions that return an int return an exit_code, having complained, but for count. */
struct place {
    csrconv_device device;

    /* How many devices there are, usable or not. */
    int (*count)(void);
    void (*describe)(int ordinal, struct place_device *device);

    /* A row of calls is long enough for the clock after this much; 0: the clock suits any. */
    double row_us;
    /* Before the first sample the device wants to have been busy for this long. */
    double warm_up_us;

    /* Makes the device of that number the one that all below is about, and the current one. */
    int (*select)(int ordinal);
    /* NULL if there is no room; aligned to 256 bytes. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    int (*upload)(void *to, const void *from, size_t bytes);
    int (*download)(void *to, const void *from, size_t bytes);
    /* What executes are queued on: a stream of the process's own; NULL on the CPU. */
    void *(*stream)(void);
    /* Waits for what was queued. */
    int (*finish)(void);

    /*
     * Makes a row ready to be run again and again: on a GPU it becomes a graph, where the calls can
     * be captured; else row->uncaptured says why, and they are made one by one. Runs nothing.
     * Forget it afterwards.
     */
    int (*record)(struct row *row);
    void (*forget)(struct row *row);
    /* Runs it once, and waits; *us is the time of the whole row, by the clock of the device. */
    int (*replay)(const struct row *row, double *us);
    /*
     * Before a replay that is timed: runs the calls without a clock, and need not wait, so that
     * their data are in the caches, and the device is busy until the row is queued.
     */
    int (*warm)(const struct row *row);
    /* In place of warm: writes 256 MB, so that nothing of the last calls is in a cache. */
    int (*flush)(void);

    /* What its resources need at the least for a plan; NULL: not known. */
    struct floors (*floors)(const struct csrconv_problem *problem,
                            const csrconv_algorithm_info *algorithm);
};

extern const struct place place_cpu;
extern const struct place place_cuda; /* in a build with CUDA */

/* The place of a device that plans can be made for. */
const struct place *place_of(csrconv_device device);

#endif
