/* What happens to a sum before it is stored; one definition for every CPU kernel. */
#ifndef CSRCONV_EPILOGUE_H
#define CSRCONV_EPILOGUE_H

#include "csrconv.h"

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

#endif
