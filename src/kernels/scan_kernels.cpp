// Compiles the scan for every SIMD target and picks this machine's at run time.
#include "kernels/scan_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/scan_block-inl.hpp"
#include "kernels/scan_log-inl.hpp"
#include "kernels/scan_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class T>
void run_scan_in(Semiring semiring, const ScanMatrix<T>& matrix, std::int64_t first, std::int64_t last,
                 const ScanRun& run, std::byte* scratch) {
  switch (semiring) {
    case Semiring::max_plus:
      return ScanBlocks<SumSteps<T, false>, T>(matrix, run, scratch).run(first, last);
    case Semiring::min_plus:
      return ScanBlocks<SumSteps<T, true>, T>(matrix, run, scratch).run(first, last);
    default:
      return ScanBlocks<LogSteps<T>, T>(matrix, run, scratch).run(first, last);
  }
}

void run_scan_float32(Semiring semiring, const ScanMatrix<float>& matrix, std::int64_t first, std::int64_t last,
                      const ScanRun& run, std::byte* scratch) {
  run_scan_in(semiring, matrix, first, last, run, scratch);
}

void run_scan_float64(Semiring semiring, const ScanMatrix<double>& matrix, std::int64_t first, std::int64_t last,
                      const ScanRun& run, std::byte* scratch) {
  run_scan_in(semiring, matrix, first, last, run, scratch);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_scan_float32);
HWY_EXPORT(run_scan_float64);

void run_scan(Semiring semiring, const ScanMatrix<float>& matrix, std::int64_t first, std::int64_t last,
              const ScanRun& run, std::byte* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(run_scan_float32)(semiring, matrix, first, last, run, scratch);
}

void run_scan(Semiring semiring, const ScanMatrix<double>& matrix, std::int64_t first, std::int64_t last,
              const ScanRun& run, std::byte* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(run_scan_float64)(semiring, matrix, first, last, run, scratch);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
