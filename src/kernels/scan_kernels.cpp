// Compiles the scan for every SIMD target and picks this machine's at run time.
#include "kernels/scan_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/scan_block-inl.hpp"
#include "kernels/scan_lanes-inl.hpp"
#include "kernels/scan_log-inl.hpp"
#include "kernels/scan_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class Steps, class T>
void run_steps(const ScanMatrix<T>& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
               std::byte* scratch) {
  base::Pace pace(static_cast<double>(last - first) * static_cast<double>(run.steps) *
                  static_cast<double>(scan_step_work(matrix.states())));
  ScanBlocks<Steps, T> blocks(matrix, run, scratch);
  // With one lane there is nothing to gain.
  if constexpr (HWY_MAX_BYTES > sizeof(double)) {
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
    for (; first < last && lanes_pay(matrix.states(), std::min(lanes, last - first)); first += lanes) {
      if (!ScanLanes<Steps, T>(matrix, run, blocks).run(first, std::min(lanes, last - first), pace)) return;
    }
  }
  blocks.run(first, last, pace);
}

void run_scan_here(Semiring semiring, const AnyScanMatrix& any, std::int64_t first, std::int64_t last,
                   const ScanRun& run, std::byte* scratch) {
  const auto of = [&]<class T>(const ScanMatrix<T>& matrix) {
    if (semiring == Semiring::log) return run_steps<LogSteps<T>>(matrix, first, last, run, scratch);
    run_steps<SumSteps<T>>(matrix, first, last, run, scratch);
  };
  std::visit(of, any);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_scan_here);

void run_scan(Semiring semiring, const AnyScanMatrix& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
              std::byte* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(run_scan_here)(semiring, matrix, first, last, run, scratch);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
