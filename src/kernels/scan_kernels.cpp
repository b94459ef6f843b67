// Scans: compiled for every SIMD target, of which this machine's best is picked at run time.
#include <type_traits>

#include "base/assert.hpp"
#include "kernels/scan.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/scan_lanes-inl.hpp"
#include "kernels/scan_log-inl.hpp"
#include "kernels/scan_rows-inl.hpp"
#include "kernels/scan_sum-inl.hpp"
#include "kernels/scan_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <int kVectors, class T>
void run_vectors(const PackedMatrix<T>& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
                 const ScanBlocks<LogSteps<T>, T>& blocks, base::Pace& pace) {
  ScanVectors<LogSteps<T>, T, kVectors> rows(matrix, run, blocks);
  for (; first < last && rows.run(first, std::min(rows.most_rows, last - first), pace); first += rows.most_rows) {
  }
}

template <class Steps, class T>
void run_steps(const PackedMatrix<T>& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
               std::byte* scratch) {
  base::Pace pace(static_cast<double>(last - first) * static_cast<double>(run.steps) *
                  static_cast<double>(scan_step_work(matrix.states())));
  ScanBlocks<Steps, T> blocks(matrix, run, scratch);
  // With one lane there is nothing to gain.
  if constexpr (HWY_MAX_BYTES > sizeof(double)) {
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
    const std::int64_t vectors = (matrix.states() + lanes - 1) / lanes;
    for (; first < last && lanes_pay(matrix.states(), std::min(lanes, last - first)); first += lanes) {
      if (!ScanLanes<Steps, T>(matrix, run, blocks).run(first, std::min(lanes, last - first), pace)) return;
    }
    if constexpr (std::is_same_v<Steps, LogSteps<T>>) {
      if (vectors == 1) return run_vectors<1>(matrix, first, last, run, blocks, pace);
      if (vectors == 2) return run_vectors<2>(matrix, first, last, run, blocks, pace);
      if (vectors == 3) return run_vectors<3>(matrix, first, last, run, blocks, pace);
      if (vectors == 4) return run_vectors<4>(matrix, first, last, run, blocks, pace);
    }
  }
  blocks.run(first, last, pace);
}

void run_scan_here(Semiring semiring, const AnyPackedMatrix& any, std::int64_t first, std::int64_t last,
                   const ScanRun& run, std::byte* scratch) {
  const auto of = [&]<class T>(const PackedMatrix<T>& matrix) {
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

Scan::Scan(const ScanShape& shape, const void* matrix, std::int64_t row_stride, std::int64_t column_stride,
           std::byte* memory)
    : shape_(shape),
      matrix_(pack_matrix(shape.semiring, shape.dtype, shape.states, matrix, row_stride, column_stride, memory)) {
  PLATED_ASSERT(shape.states >= 1);
  PLATED_ASSERT(shape.semiring == Semiring::log || shape.semiring == Semiring::max_plus ||
                shape.semiring == Semiring::min_plus);
}

std::size_t Scan::scratch_bytes(const ScanShape& shape) {
  // For each row: message, product, input of the product, logarithms; and a vector for a strided term.
  return static_cast<std::size_t>(4 * scan_block_rows + 1) * packed_vector_bytes(shape.dtype, shape.states);
}

void Scan::run(std::int64_t first, std::int64_t last, const ScanRun& run, std::byte* scratch) const noexcept {
  HWY_DYNAMIC_DISPATCH(run_scan_here)(shape_.semiring, matrix_, first, last, run, scratch);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
