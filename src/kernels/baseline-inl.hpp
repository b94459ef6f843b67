// Compiles what follows for the baseline, which serves machines without SIMD that pays, for size: it is a third of all
// kernels. To be included after foreach_target.h, which leaves the baseline for last.
#if HWY_TARGET == HWY_SCALAR && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("Os")
#endif
