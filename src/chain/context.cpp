// Contexts of pieces.
#include "chain/context.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/recursion.hpp"
#include "semiring/dispatch.hpp"

namespace plated::chain {

Tensor context_of(const Tensor& total, const Tensor& result, Semiring semiring) {
  std::vector<double> values = total.values();
  const std::vector<double> own = result.values();
  const double zero = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::zero(); });
  const bool sums = engine::carries_offset(semiring);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] == zero || own[k] == zero) {
      values[k] = zero;
    } else if (sums) {
      values[k] -= own[k];
    } else if (semiring != Semiring::boolean) {
      values[k] /= own[k];
    }
  }
  return Tensor::of(total.shape(), values);
}

Tensor log_context(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                   const std::vector<Tensor>& results, const std::vector<double>& mass, const Call& call) {
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  const Pieces& pieces = program.pieces();
  const Piece& p = pieces.pieces[piece];
  const std::vector<double> own = results[piece].values();
  std::vector<double> context(own.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    context[k] = mass[k] > 0 ? std::log(mass[k]) - own[k] : minus_infinity;
  }
  // Rows of the same plate index in all batches: where some entry is zero, its context is the rest with ones for the
  // row.
  std::int64_t batches = 1;
  std::int64_t slices = 1;
  for (const DimId d : p.rows) {
    (pieces.graph.dims()[d].kind == DimKind::batch ? batches : slices) *= pieces.graph.dims()[d].size;
  }
  if (batches * slices == 0 || own.empty()) return Tensor::of(results[piece].shape(), context);
  const std::int64_t row = static_cast<std::int64_t>(own.size()) / (batches * slices);
  const auto each = [&](std::int64_t slice, auto&& visit) {
    for (std::int64_t b = 0; b < batches; ++b) {
      const std::int64_t first = (b * slices + slice) * row;
      for (std::int64_t k = first; k < first + row; ++k) visit(static_cast<std::size_t>(k));
    }
  };
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    bool zero = false;
    each(slice, [&](std::size_t k) { zero = zero || own[k] == minus_infinity || mass[k] == 0; });
    if (!zero) continue;
    std::vector<double> replaced = own;
    each(slice, [&](std::size_t k) { replaced[k] = 0; });
    std::vector<Tensor> with_ones = results;
    with_ones[piece] = Tensor::of(results[piece].shape(), replaced);
    const std::vector<DimId> axes = message_axes(p, p.result());
    const auto rest = program.part("context of " + std::to_string(piece), [&] { return rest_asking(pieces, {axes}); });
    Call inner = call;
    inner.settings.semiring = Semiring::log;
    const std::vector<double> exact = outputs(*rest, {engine::shape_only(Dtype::float64, results[piece].shape())},
                                              program.rest_operands(operands, with_ones), inner)[0]
                                          .values();
    each(slice, [&](std::size_t k) { context[k] = exact[k]; });
  }
  return Tensor::of(results[piece].shape(), context);
}

}  // namespace plated::chain
