/* What happens to a sum before it is stored; one definition for every CPU kernel. */
#ifndef CSRCONV_EPILOGUE_H
#define CSRCONV_EPILOGUE_H

#include "csrconv.h"

#include <math.h>

static inline float csrconv_activate(const csrconv_epilogue *epilogue, float x)
{
    switch (epilogue->activation) {
    case CSRCONV_ACTIVATION_RELU:
        return x < 0.0F ? 0.0F : x;
    case CSRCONV_ACTIVATION_CLAMP:
        return x < epilogue->lo ? epilogue->lo : x > epilogue->hi ? epilogue->hi : x;
    case CSRCONV_ACTIVATION_NONE:
        break;
    }
    return x;
}

/* The same activation as min(hi, max(lo, x)). */
static inline void csrconv_activation_bounds(const csrconv_epilogue *epilogue, float *lo, float *hi)
{
    const int is_clamp = epilogue->activation == CSRCONV_ACTIVATION_CLAMP;
    const int is_none = epilogue->activation == CSRCONV_ACTIVATION_NONE;
    *lo = is_clamp ? epilogue->lo : is_none ? -(float)INFINITY : 0.0F;
    *hi = is_clamp ? epilogue->hi : (float)INFINITY;
}

#endif
