/* IEEE half precision. */
#ifndef CSRCONV_TOOLS_FORMAT_HALF_H
#define CSRCONV_TOOLS_FORMAT_HALF_H

#include "bytes.h"

/* The float of a half's 16 bits: exact. */
static inline float half_value(uint32_t half)
{
    const uint32_t sign = (half & 0x8000U) << 16;
    const uint32_t exponent = half >> 10 & 0x1fU;
    const uint32_t fraction = half & 0x3ffU;
    if (exponent == 0) { /* zero or subnormal: a multiple of 2^-24 */
        const float magnitude = (float)fraction * 0x1p-24F;
        return sign ? -magnitude : magnitude;
    }
    const uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
    return float_of_bits(sign | wide << 23 | fraction << 13);
}

#endif
