// Posteriors of a chain: the matrix packed at construction, runs on the best SIMD target.
#include "kernels/chain_posterior.hpp"

#include "base/assert.hpp"
#include "kernels/chain_posterior_kernels.hpp"

namespace plated::kernels {

ChainPosterior::ChainPosterior(Dtype dtype, std::int64_t states, const void* matrix, std::int64_t row_stride,
                               std::int64_t column_stride, std::byte* memory)
    : matrix_(
          pack_matrix(Semiring::log, dtype, states, matrix, row_stride, column_stride, ScanLayout::columns, memory)) {
  PLATED_ASSERT(states >= 1);
}

std::size_t ChainPosterior::scratch_bytes() const {
  return std::visit(
      []<class T>(const ScanMatrix<T>& matrix) { return chain_posterior_scratch_bytes<T>(matrix.width()); }, matrix_);
}

std::size_t ChainPosterior::packed_bytes(Dtype dtype, std::int64_t states) {
  return dtype == Dtype::float32 ? ScanMatrix<float>::bytes(states) : ScanMatrix<double>::bytes(states);
}

std::size_t ChainPosterior::scratch_bytes(Dtype dtype, std::int64_t states) {
  return dtype == Dtype::float32 ? chain_posterior_scratch_bytes<float>(ScanMatrix<float>::width(states))
                                 : chain_posterior_scratch_bytes<double>(ScanMatrix<double>::width(states));
}

bool ChainPosterior::run(std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) const noexcept {
  return run_chain_posterior(matrix_, first, last, run, scratch);
}

void ChainPosterior::finish(const double* totals, double* statistics) const noexcept {
  std::visit([&](const auto& matrix) { matrix.weigh(totals, statistics); }, matrix_);
}

}  // namespace plated::kernels
