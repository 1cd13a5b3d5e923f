/* How calls fail: a status, and a sentence kept for the thread. */
#ifndef CSRCONV_STATUS_H
#define CSRCONV_STATUS_H

#include "csrconv.h"

/* Keeps the sentence for csrconv_last_error() and returns status. */
csrconv_status csrconv_fail(csrconv_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * For the sizes that structures of the API carry: CSRCONV_OK if `size` is that of a version of the
 * structure that this library knows. `what` names the structure.
 */
csrconv_status csrconv_check_struct(const char *what, size_t size, size_t known);

#endif
