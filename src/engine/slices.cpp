// Diagonals of tensors.
#include "engine/slices.hpp"

#include "tensor/numbers.hpp"

namespace plated::engine {

Diagonal::Diagonal(const std::vector<DimId>& axes, const Tensor& of) {
  Tensor::Shape shape, strides;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto known = std::find(dims.begin(), dims.end(), axes[axis]);
    if (known != dims.end()) {
      strides[static_cast<std::size_t>(known - dims.begin())] += of.strides()[axis];
      continue;
    }
    dims.push_back(axes[axis]);
    shape.push_back(of.shape()[axis]);
    strides.push_back(of.strides()[axis]);
  }
  tensor = tensor::of_type(of.dtype(),
                           [&]<class T>(T) { return Tensor::view(static_cast<const T*>(of.data()), shape, strides); });
}

std::vector<bool> Diagonal::are(DimKind kind, const FactorGraph& graph) const {
  std::vector<bool> result;
  for (const DimId d : dims) result.push_back(graph.dims()[d].kind == kind);
  return result;
}

}  // namespace plated::engine
