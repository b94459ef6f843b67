// A chain's posteriors: compiled for every SIMD target, of which this machine's best is picked at run time.
#include <bit>

#include "base/assert.hpp"
#include "kernels/chain_posterior.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/chain_posterior_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/chain_posterior-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

bool run_posterior_here(const PosteriorShape& shape, const AnyPackedMatrix& any, const AnyPackedMatrix& any_turned,
                        std::int64_t first, std::int64_t last, const PosteriorRun& run, std::byte* scratch) {
  const auto of = [&]<class T>(const PackedMatrix<T>& matrix) {
    return PosteriorRows<T>(shape, matrix, std::get<PackedMatrix<T>>(any_turned), run, scratch).run(first, last);
  };
  return std::visit(of, any);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_posterior_here);

std::int64_t PosteriorShape::pitch() const {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(states)));
}

std::int64_t PosteriorShape::together() const {
  const auto panel = static_cast<std::int64_t>(base::cache_line / size_of(dtype));
  return std::clamp<std::int64_t>(panel / pitch(), 1, std::max<std::int64_t>(rows, 1));
}

namespace {

AnyPackedMatrix in_blocks(const AnyPackedMatrix& block, const PosteriorShape& shape, bool transposed,
                          std::byte* memory) {
  const auto of = [&](const auto& matrix) -> AnyPackedMatrix {
    return matrix.in_blocks(shape.together(), shape.pitch(), transposed, memory);
  };
  return std::visit(of, block);
}

}  // namespace

ChainPosterior::ChainPosterior(const PosteriorShape& shape, const void* matrix, std::int64_t row_stride,
                               std::int64_t column_stride, std::byte* memory)
    : shape_(shape),
      block_(pack_matrix(Semiring::log, shape.dtype, shape.states, matrix, row_stride, column_stride, memory)),
      matrix_(in_blocks(block_, shape, false, memory + packed_matrix_bytes(shape.dtype, shape.slots()))),
      turned_(in_blocks(block_, shape, true, memory + 2 * packed_matrix_bytes(shape.dtype, shape.slots()))) {
  PLATED_ASSERT(shape.states >= 1);
}

std::size_t ChainPosterior::memory_bytes(const PosteriorShape& shape) {
  return 3 * packed_matrix_bytes(shape.dtype, shape.slots());
}

std::size_t ChainPosterior::scratch_bytes(const PosteriorShape& shape) {
  // Sources, ratios and masses, with what vectors reach beyond them; and a strided term.
  const std::int64_t vectors = 3 * posterior_chunk + 12;
  return static_cast<std::size_t>(vectors) * packed_vector_bytes(shape.dtype, shape.slots());
}

bool ChainPosterior::run(std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) const noexcept {
  return HWY_DYNAMIC_DISPATCH(run_posterior_here)(shape_, matrix_, turned_, first, last, run, scratch);
}

void ChainPosterior::add_pairs(const double* totals, double* pairs, std::int64_t row_stride,
                               std::int64_t column_stride) const noexcept {
  const std::int64_t states = shape_.states, slots = shape_.slots();
  const auto add = [&](const auto& block) {
    for (std::int64_t first = 0; first < slots; first += shape_.pitch()) {
      for (std::int64_t a = 0; a < states; ++a) {
        const double* const row = totals + (first + a) * slots + first;
        for (std::int64_t b = 0; b < states; ++b) {
          pairs[a * row_stride + b * column_stride] += row[b] * static_cast<double>(block.packed(a, b));
        }
      }
    }
  };
  std::visit(add, block_);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
