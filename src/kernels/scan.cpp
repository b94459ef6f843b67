// A scan: its matrix packed at construction, its runs on the best SIMD target.
#include "kernels/scan.hpp"

#include "base/assert.hpp"
#include "kernels/scan_kernels.hpp"

namespace plated::kernels {

Scan::Scan(const ScanShape& shape, const void* matrix, std::int64_t row_stride, std::int64_t column_stride,
           std::byte* memory)
    : semiring_(shape.semiring),
      matrix_(pack_matrix(shape.semiring, shape.dtype, shape.states, matrix, row_stride, column_stride,
                          ScanLayout::panels, memory)) {
  PLATED_ASSERT(shape.states >= 1);
  PLATED_ASSERT(semiring_ == Semiring::log || semiring_ == Semiring::max_plus || semiring_ == Semiring::min_plus);
}

std::size_t Scan::scratch_bytes() const {
  return std::visit([]<class T>(const ScanMatrix<T>& matrix) { return scan_scratch_bytes<T>(matrix.width()); },
                    matrix_);
}

std::size_t Scan::packed_bytes(const ScanShape& shape) {
  return shape.dtype == Dtype::float32 ? ScanMatrix<float>::bytes(shape.states)
                                       : ScanMatrix<double>::bytes(shape.states);
}

std::size_t Scan::scratch_bytes(const ScanShape& shape) {
  return shape.dtype == Dtype::float32 ? scan_scratch_bytes<float>(ScanMatrix<float>::width(shape.states))
                                       : scan_scratch_bytes<double>(ScanMatrix<double>::width(shape.states));
}

void Scan::run(std::int64_t first, std::int64_t last, const ScanRun& run, std::byte* scratch) const noexcept {
  run_scan(semiring_, matrix_, first, last, run, scratch);
}

}  // namespace plated::kernels
