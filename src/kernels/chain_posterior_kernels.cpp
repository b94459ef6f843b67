// A chain's posteriors: compiled for every SIMD target, of which this machine's best is picked at run time.
#include "base/assert.hpp"
#include "kernels/chain_posterior.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/chain_posterior_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/chain_posterior_items-inl.hpp"
#include "kernels/chain_posterior_states-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class T>
bool run_posterior_in(const PackedMatrix<T>& matrix, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                      std::byte* scratch) {
  // With one lane there is nothing to gain.
  if constexpr (HWY_MAX_BYTES > sizeof(double)) {
    if (items_pay<T>(matrix.states())) return PosteriorItems<T>(matrix, run).run(first, last);
  }
  return PosteriorStates<T>(matrix, run, scratch).run(first, last);
}

bool run_posterior_here(const AnyPackedMatrix& any, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                        std::byte* scratch) {
  return std::visit([&](const auto& matrix) { return run_posterior_in(matrix, first, last, run, scratch); }, any);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_posterior_here);

ChainPosterior::ChainPosterior(Dtype dtype, std::int64_t states, const void* matrix, std::int64_t row_stride,
                               std::int64_t column_stride, std::byte* memory)
    : dtype_(dtype),
      states_(states),
      matrix_(
          pack_matrix(Semiring::log, dtype, states, matrix, row_stride, column_stride, MatrixLayout::columns, memory)) {
  PLATED_ASSERT(states >= 1);
}

std::size_t ChainPosterior::scratch_bytes(Dtype dtype, std::int64_t states) {
  // For each slice of a chunk its source and its target; three vectors for strided terms and answers, one for the sums
  // of the matrix's rows.
  const std::size_t vector = packed_vector_bytes(dtype, states);
  const std::size_t pitch = vector / base::cache_line % 2 == 1 ? vector : vector + base::cache_line;
  return 2 * posterior_chunk * pitch + 4 * vector;
}

bool ChainPosterior::run(std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) const noexcept {
  return HWY_DYNAMIC_DISPATCH(run_posterior_here)(matrix_, first, last, run, scratch);
}

void ChainPosterior::finish(const double* totals, double* statistics) const noexcept {
  std::visit([&](const auto& matrix) { matrix.weigh(totals, statistics); }, matrix_);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
