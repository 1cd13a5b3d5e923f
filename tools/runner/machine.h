/* What machine this is, and whether it was ours while we measured. */
#ifndef CSRCONV_TOOLS_MACHINE_H
#define CSRCONV_TOOLS_MACHINE_H

/* The CPU's model as the kernel names it, "unknown CPU" if it does not. Static storage. */
const char *machine_cpu(void);

/* CPU time of the whole machine and of this process, in seconds; of the first is 0 if unknown. */
struct machine_use {
    double machine_s, process_s, wall_s;
};

struct machine_use machine_use_now(void);

/* The share of one CPU that other processes took since then, 0 if unknown. */
double machine_taken_since(const struct machine_use *start);

#endif
