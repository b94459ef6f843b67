// A model whose slices are literally repeated: what whole weights mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {

/// Which slice of the weighted plate each slice of the repeated one is a copy of.
using Copies = std::map<DimId, std::vector<std::int64_t>>;

/// Calls visit(k, offset) for each entry k of the repeated array: `offset` is that of the entry it is a copy of.
template <class Visit>
void for_each_copy(const FactorGraph& repeated, const std::vector<DimId>& dims, const Copies& copies,
                   const Tensor::Shape& strides, Visit visit) {
  Tensor::Shape at(dims.size(), 0);
  std::int64_t count = 1;
  for (const DimId d : dims) count *= repeated.dims()[d].size;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t offset = 0;
    bool first = true;  // of the copies of its slice
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      std::int64_t index = at[axis];
      if (const auto found = copies.find(dims[axis]); found != copies.end()) {
        const std::vector<std::int64_t>& source = found->second;
        first = first &&
                (index == 0 || source[static_cast<std::size_t>(index - 1)] != source[static_cast<std::size_t>(index)]);
        index = source[static_cast<std::size_t>(index)];
      }
      offset += index * strides[axis];
    }
    visit(static_cast<std::size_t>(k), static_cast<std::size_t>(offset), first);
    for (std::size_t axis = dims.size(); axis-- > 0 && ++at[axis] == repeated.dims()[dims[axis]].size;) at[axis] = 0;
  }
}

/// A random model with whole weights, and the same with repeated slices.
struct Repeated {
  Repeated(DrawnModel& drawn, std::int64_t most) : original(drawn.graph), graph(drawn.graph) {
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      if (drawn.random.chance(25)) continue;
      const std::int64_t size = original.dims()[d].size;
      const bool whole = drawn.random.chance(20);
      const std::int64_t common = drawn.random.below(most + 1);
      std::vector<double> each;
      std::vector<std::int64_t>& source = copies[d];
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t count = whole ? common : drawn.random.below(most + 1);
        each.push_back(static_cast<double>(count));
        source.insert(source.end(), static_cast<std::size_t>(count), i);
      }
      weights.emplace(drawn.name_of(d), whole ? Tensor::scalar(static_cast<double>(common)) : Tensor::of({size}, each));
      graph = graph.resized(drawn.name_of(d), static_cast<std::int64_t>(source.size()));
    }
  }

  /// The original with twice as many slices in all plates.
  [[nodiscard]] FactorGraph doubled() const {
    FactorGraph result = original;
    for (const Dim& dim : original.dims()) {
      if (dim.kind == DimKind::plate) result = result.resized(dim.name, 2 * dim.size);
    }
    return result;
  }

  /// An array of the original with its slices repeated; `elsewhere` in copies but the first, if given.
  [[nodiscard]] Tensor spread(const Tensor& tensor, const std::vector<DimId>& dims,
                              std::optional<double> elsewhere = {}) const {
    Tensor::Shape shape;
    for (const DimId d : dims) shape.push_back(graph.dims()[d].size);
    const std::vector<double> from = tensor.elements() > 0 ? tensor.values() : std::vector<double>{};
    std::vector<double> to;
    for_each_copy(graph, dims, copies, Tensor::row_major(tensor.shape()), [&](std::size_t, std::size_t at, bool first) {
      to.push_back(first || !elsewhere ? from[at] : *elsewhere);
    });
    return Tensor::of(shape, to);
  }
  /// Entries of the first copy of each slice in the place of the original, or the sums over all copies; `missing` where
  /// there is none.
  [[nodiscard]] Numbers gathered(const Tensor& tensor, const std::vector<DimId>& dims, bool sums,
                                 double missing) const {
    Tensor::Shape shape;
    std::size_t elements = 1;
    for (const DimId d : dims) {
      shape.push_back(original.dims()[d].size);
      elements *= static_cast<std::size_t>(shape.back());
    }
    Numbers result(elements, missing);
    const std::vector<double> from = tensor.elements() > 0 ? tensor.values() : std::vector<double>{};
    for_each_copy(graph, dims, copies, Tensor::row_major(shape), [&](std::size_t k, std::size_t at, bool first) {
      if (first) result[at] = from[k];
      if (!first && sums) result[at] += from[k];
    });
    return result;
  }
  /// Whether there is no copy of an entry's slice.
  [[nodiscard]] std::vector<bool> missing(const std::vector<DimId>& dims) const {
    const double mark = -12345;
    std::int64_t elements = 1;
    for (const DimId d : dims) elements *= graph.dims()[d].size;
    Tensor::Shape shape;
    for (const DimId d : dims) shape.push_back(graph.dims()[d].size);
    const Numbers found =
        gathered(Tensor::of(shape, std::vector<double>(static_cast<std::size_t>(elements), 0)), dims, false, mark);
    std::vector<bool> result;
    for (const long double x : found) result.push_back(x == mark);
    return result;
  }

  const FactorGraph& original;
  FactorGraph graph;
  Copies copies;
  Weights weights;
};

}  // namespace plated::test
