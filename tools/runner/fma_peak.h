/* The rate of fused multiply-adds that this processor reaches when nothing else is in the way. */
#ifndef CSRCONV_TOOLS_FMA_PEAK_H
#define CSRCONV_TOOLS_FMA_PEAK_H

/*
 * GFLOP/s of `threads` threads on vectors of `lanes` floats (8: AVX2, 16: AVX-512), the best of a
 * few runs of some milliseconds; 0 if this processor or this build has no such vectors.
 */
double fma_peak_gflops(int lanes, int threads);

#endif
