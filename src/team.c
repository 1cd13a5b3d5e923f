#include "team.h"

#include "status.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { RANGES_PER_THREAD = 8, MOST_THREADS = 4096 };

static int machine_threads(void)
{
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

csrconv_status csrconv_team_init(struct csrconv_team *team, int threads,
                                 const csrconv_parallel *hook)
{
    if (threads < 0 || threads > MOST_THREADS)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "threads is %d, must be in [0, %d]", threads,
                            MOST_THREADS);
    if (hook && !hook->run)
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "parallel.run is NULL");
    if (hook && (hook->threads < 1 || hook->threads > MOST_THREADS))
        return csrconv_fail(CSRCONV_BAD_ARGUMENT, "parallel.threads is %d, must be in [1, %d]",
                            hook->threads, MOST_THREADS);
    team->hook = hook ? *hook : (csrconv_parallel){ 0 };
    team->threads = threads ? threads : hook ? hook->threads : machine_threads();
    return CSRCONV_OK;
}

/* [0, count) cut into `ranges` parts that differ by one item at the most. */
struct cut {
    csrconv_range_task task;
    void *argument;
    int64_t count;
    int64_t ranges;
};

static int64_t range_begin(const struct cut *cut, int64_t range)
{
    const int64_t part = cut->count / cut->ranges, longer = cut->count % cut->ranges;
    return range * part + (range < longer ? range : longer);
}

static void run_range(void *argument, int64_t range)
{
    const struct cut *cut = argument;
    cut->task(cut->argument, range_begin(cut, range), range_begin(cut, range + 1));
}

void csrconv_team_run(const struct csrconv_team *team, int64_t count, csrconv_range_task task,
                      void *argument)
{
    const int64_t most = (int64_t)team->threads * RANGES_PER_THREAD;
    struct cut cut = { task, argument, count, count < most ? count : most };
    if (count < 1)
        return;
    if (team->threads == 1) {
        task(argument, 0, count);
    } else if (team->hook.run) {
        team->hook.run(team->hook.context, cut.ranges, run_range, &cut);
    } else {
#ifdef _OPENMP
#pragma omp parallel for num_threads(team->threads) schedule(dynamic)
#endif
        for (int64_t range = 0; range < cut.ranges; range++)
            run_range(&cut, range);
    }
}
