// The slices of a block as messages meet them: operands cut to size, and what is prepared from them.
#include <algorithm>
#include <string>

#include "chain/messages.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {
namespace {

/// For each index of `of`, row-major, its place in a tensor that has only some of these dims, in their own order.
std::vector<std::int64_t> places(const FactorGraph& graph, const std::vector<DimId>& of, const std::vector<DimId>& in) {
  std::vector<std::int64_t> stride(of.size(), 0);
  std::int64_t step = 1;
  for (std::size_t k = in.size(); k-- > 0;) {
    const auto found = std::find(of.begin(), of.end(), in[k]);
    if (found != of.end()) stride[found - of.begin()] = step;
    step *= graph.dims()[in[k]].size;
  }
  std::vector<std::int64_t> list(static_cast<std::size_t>(elements(graph, of)));
  for (std::size_t e = 0; e < list.size(); ++e) {
    auto rest = static_cast<std::int64_t>(e);
    for (std::size_t k = of.size(); k-- > 0;) {
      list[e] += rest % graph.dims()[of[k]].size * stride[k];
      rest /= graph.dims()[of[k]].size;
    }
  }
  return list;
}

}  // namespace

std::vector<Tensor> Sweep::narrowed_operands(std::int64_t first, std::int64_t count) const {
  const FactorGraph& graph = program_.pieces().graph;
  const Ragged* ragged = call_.ragged(piece_.chain);
  std::vector<Tensor> list;
  for (const std::size_t f : piece_.factors) {
    const std::vector<DimId>& axes = graph.factors()[f].dims;
    list.push_back(narrowed(operands_[f], axes, piece_.chain, first, count));
    if (ragged != nullptr) list.back() = padded(list.back(), axes, piece_.chain, first, *ragged, semiring_);
  }
  return list;
}

Sweep::Slices Sweep::slices_of(std::int64_t first, std::int64_t count) {
  const FactorGraph& graph = program_.pieces().graph;
  Slices slices{.operands = narrowed_operands(first, count), .prepared = {}, .factor = {}};
  std::vector<DimId> row_dims = piece_.rows;
  row_dims.insert(row_dims.end(), piece_.outer.begin(), piece_.outer.end());
  for (std::size_t p = 0; p < body_.preparations.size(); ++p) {
    const Preparation& preparation = body_.preparations[p];
    if (!constant_[p] || preparation.varies) {
      const std::string key =
          "preparation " + std::to_string(index_) + " " + std::to_string(p) + " " + std::to_string(count);
      const auto part = program_.part(
          key, [&] { return preparation_graph(graph, piece_, preparation, preparation.varies ? count : 1); });
      std::vector<Tensor> inputs;
      for (const std::size_t f : preparation.factors) {
        const auto at = std::find(piece_.factors.begin(), piece_.factors.end(), f) - piece_.factors.begin();
        inputs.push_back(slices.operands[at]);
      }
      std::vector<std::int64_t> shape;
      for (const DimId d : preparation.axes) shape.push_back(d == piece_.chain ? count : graph.dims()[d].size);
      Tensor made = outputs(*part, {engine::shape_only(Dtype::float64, shape)}, inputs,
                            InnerCall(call_, semiring_, piece_.chain, first, count))[0];
      check_numbers(made, "the product over what lies inside each slice of");
      std::int64_t batch = 1;
      for (std::size_t axis = 0; axis < preparation.batch; ++axis) batch *= shape[axis];
      constant_offset_[p].assign(static_cast<std::size_t>(batch), 0.0);
      const std::int64_t states = batch == 0 ? 0 : made.elements() / batch;
      engine::normalise(semiring_, Dtype::float64, made.mutable_data(), constant_offset_[p].data(), batch, states);
      constant_[p] = converted(made, dtype_);
    }
    slices.prepared.push_back(*constant_[p]);
    if (!engine::carries_offset(semiring_)) continue;
    slices.factor.resize(static_cast<std::size_t>(count * rows_), 0.0);
    const std::vector<DimId> batch_dims(preparation.axes.begin(),
                                        preparation.axes.begin() + static_cast<std::ptrdiff_t>(preparation.batch));
    const std::vector<DimId> row_part = without(batch_dims, piece_.chain);
    const std::vector<std::int64_t> place = places(graph, row_dims, row_part);
    const std::int64_t step = preparation.varies ? elements(graph, row_part) : 0;
    for (std::int64_t s = 0; s < count; ++s) {
      for (std::int64_t r = 0; r < rows_; ++r) {
        slices.factor[s * rows_ + r] += constant_offset_[p][s * step + place[r]];
      }
    }
  }
  return slices;
}

}  // namespace plated::chain
