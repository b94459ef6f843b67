// Which SIMD targets the kernels are compiled for; to be included before any Highway header.
#pragma once

// Few targets keep the build short: AVX2, AVX3 and the baseline, which is always there and serves older machines.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
