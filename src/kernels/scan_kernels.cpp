// Scans: compiled for every SIMD target, of which this machine's best is picked at run time.
#include <algorithm>

#include "base/assert.hpp"
#include "kernels/scan.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class Steps, class T>
void run_steps(const PackedMatrix<T>& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
               std::byte* scratch) {
  base::Pace pace(static_cast<double>(last - first) * static_cast<double>(run.steps) *
                  static_cast<double>(scan_step_work(matrix.states())));
  ScanRows<Steps, T> rows(matrix, run, scratch);
  for (; first < last && rows.run(first, std::min(rows.most(), last - first), pace); first += rows.most()) {
  }
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
  // For each vector: messages and factors of both terms for some steps, an input of the product, and space.
  const std::int64_t vectors = scan_vectors * (3 * scan_ahead(shape.states) + 4);
  return static_cast<std::size_t>(vectors) * packed_vector_bytes(shape.dtype, shape.states);
}

void Scan::run(std::int64_t first, std::int64_t last, const ScanRun& run, std::byte* scratch) const noexcept {
  HWY_DYNAMIC_DISPATCH(run_scan_here)(shape_.semiring, matrix_, first, last, run, scratch);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
