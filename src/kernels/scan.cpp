// A scan: its matrix packed at construction, its runs on the best SIMD target.
#include "kernels/scan.hpp"

#include "base/assert.hpp"
#include "kernels/scan_kernels.hpp"

namespace plated::kernels {
namespace {

std::variant<ScanMatrix<float>, ScanMatrix<double>> pack(const ScanShape& shape, const void* matrix,
                                                         std::int64_t row_stride, std::int64_t column_stride) {
  if (shape.dtype == Dtype::float32) {
    return ScanMatrix<float>(shape.semiring, shape.states, static_cast<const float*>(matrix), row_stride,
                             column_stride);
  }
  return ScanMatrix<double>(shape.semiring, shape.states, static_cast<const double*>(matrix), row_stride,
                            column_stride);
}

}  // namespace

Scan::Scan(const ScanShape& shape, const void* matrix, std::int64_t row_stride, std::int64_t column_stride)
    : semiring_(shape.semiring), matrix_(pack(shape, matrix, row_stride, column_stride)) {
  PLATED_ASSERT(shape.states >= 1);
  PLATED_ASSERT(semiring_ == Semiring::log || semiring_ == Semiring::max_plus || semiring_ == Semiring::min_plus);
}

std::size_t Scan::scratch_bytes() const {
  return std::visit([]<class T>(const ScanMatrix<T>& matrix) { return scan_scratch_bytes<T>(matrix.width()); },
                    matrix_);
}

void Scan::run(std::int64_t first, std::int64_t last, const ScanRun& run, std::byte* scratch) const noexcept {
  std::visit([&](const auto& matrix) { run_scan(semiring_, matrix, first, last, run, scratch); }, matrix_);
}

}  // namespace plated::kernels
