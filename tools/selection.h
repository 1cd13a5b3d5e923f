/* Which device, which algorithms: the flags that run, verify and bench share. */
#ifndef CSRCONV_TOOLS_SELECTION_H
#define CSRCONV_TOOLS_SELECTION_H

#include "complain.h"
#include "csrconv.h"
#include "number.h"

/* "auto", "cpu" or "cuda[:N]". */
int selection_device(const char *text, csrconv_device *device, int *ordinal);

/*
 * The same, with auto replaced by what there is; EXIT_REFUSED if plans cannot be made for it. The
 * name ("cpu", "cuda:0") has static storage until the next call.
 */
int selection_usable_device(const char *text, csrconv_device *device, int *ordinal,
                            const char **name);

/* "cpu" or "cuda". */
const char *selection_device_kind(csrconv_device device);

/* A warning where threads are asked for and the device is none that has any. */
void selection_warn_of_threads(csrconv_device device, const struct whole_list *threads);

/* csrconv's own algorithms, then the peers of this build. */
int selection_count(void);
const csrconv_algorithm *selection_algorithm(int index);
csrconv_algorithm_info selection_info(int index);

/*
 * Marks in wanted[selection_count()] the algorithms that a list of --algo names: "all" (also of an
 * empty list), or names; an unknown one is EXIT_BAD.
 */
int selection_mark(const struct text_list *names, int *wanted);

/*
 * The same for one device: an algorithm of another one that is named gets a warning; EXIT_REFUSED
 * if all that are named are such.
 */
int selection_mark_of(const struct text_list *names, csrconv_device device, int *wanted);

/* The exit code that a status of the library comes to, and its sentence as the complaint. */
int selection_complain(const char *where, csrconv_status status);

#endif
