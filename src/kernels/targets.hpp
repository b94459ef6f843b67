// Which SIMD targets the kernels are compiled for; to be included before any Highway header.
#pragma once

// SSE4 covers the machines that SSSE3 would; fewer targets keep the build short. The baseline is always there.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3)
#endif
