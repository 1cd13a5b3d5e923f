/* What this processor, and the system on it, can run. */
#ifndef CSRCONV_CPU_FEATURES_H
#define CSRCONV_CPU_FEATURES_H

#include "csrconv.h"

/* CSRCONV_OK or CSRCONV_NOT_SUPPORTED with what is missing. */
csrconv_status csrconv_need_avx2(void);
csrconv_status csrconv_need_avx512(void);

/*
 * Bytes of a data cache: of level 1 or 2, one core's; of level 3, which cores share. What is usual
 * if the processor does not tell.
 */
int64_t csrconv_cache_bytes(int level);

/* The model as the processor names itself, without spaces around it; "CPU" if it does not tell. */
enum { CSRCONV_CPU_NAME_BYTES = 49 };
void csrconv_cpu_name(char name[CSRCONV_CPU_NAME_BYTES]);

#endif
