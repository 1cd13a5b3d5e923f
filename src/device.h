/* Which device a plan is for. */
#ifndef CSRCONV_DEVICE_H
#define CSRCONV_DEVICE_H

#include "csrconv.h"

/* Replaces CSRCONV_DEVICE_AUTO by what there is; fails as csrconv_device_usable does. */
csrconv_status csrconv_device_resolve(csrconv_device *device, int ordinal);

#endif
