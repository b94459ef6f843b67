// Reads indices along plates.
#include "engine/slice.hpp"

#include <algorithm>
#include <string>

#include "engine/check_operands.hpp"
#include "plated/error.hpp"

namespace plated::engine {

std::vector<Slice> slices_at(const FactorGraph& graph, std::size_t operand, const Tensor& tensor,
                             std::span<const std::int64_t> index) {
  const std::vector<DimId>& axes = graph.factors()[operand].dims;
  std::vector<Slice> slices;
  for (std::size_t axis = 0; axis < axes.size() && slices.size() < index.size(); ++axis) {
    const Dim& dim = graph.dims()[axes[axis]];
    const bool repeated =
        std::any_of(slices.begin(), slices.end(), [&](const auto& at) { return at.plate == axes[axis]; });
    if (dim.kind == DimKind::variable || repeated) continue;
    const std::int64_t at = index[slices.size()];
    if (at < 0 || at >= tensor.shape()[axis]) {
      throw ShapeError("slice " + std::to_string(at) + " of '" + dim.name + "' has changed, which has " +
                       std::to_string(tensor.shape()[axis]));
    }
    slices.push_back({axes[axis], at});
  }
  if (slices.size() < index.size()) {
    throw ShapeError("the index " + shape_text({index.begin(), index.end()}) + " is too long: operand " +
                     std::to_string(operand) + " ('" + graph.factors()[operand].name + "') has " +
                     std::to_string(slices.size()) + " plates");
  }
  return slices;
}

Tensor part_of(const std::vector<DimId>& axes, const Tensor& tensor, std::span<const Slice> slices) {
  Tensor part = tensor;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    for (const Slice& slice : slices) {
      if (axes[axis] == slice.plate) part = part.select(axis, slice.index);
    }
  }
  return part;
}

}  // namespace plated::engine
