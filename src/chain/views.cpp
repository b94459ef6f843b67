// Narrows tensors.
#include "chain/views.hpp"

#include <algorithm>

#include "engine/recursion.hpp"

namespace plated::chain {
namespace {

using engine::stride_along;

Tensor view_at(const Tensor& tensor, std::int64_t offset, Tensor::Shape shape, Tensor::Shape strides) {
  if (tensor.dtype() == Dtype::float32) {
    if (!tensor.writable()) {
      const auto* data = static_cast<const float*>(tensor.data());
      return Tensor::view(data == nullptr ? data : data + offset, std::move(shape), std::move(strides));
    }
    auto* data = static_cast<float*>(tensor.mutable_data());
    return Tensor::view(data == nullptr ? data : data + offset, std::move(shape), std::move(strides));
  }
  if (!tensor.writable()) {
    const auto* data = static_cast<const double*>(tensor.data());
    return Tensor::view(data == nullptr ? data : data + offset, std::move(shape), std::move(strides));
  }
  auto* data = static_cast<double*>(tensor.mutable_data());
  return Tensor::view(data == nullptr ? data : data + offset, std::move(shape), std::move(strides));
}

}  // namespace

Tensor narrowed(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t first,
                std::int64_t count) {
  Tensor::Shape shape = tensor.shape();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == dim) shape[axis] = count;
  }
  return view_at(tensor, first * stride_along(tensor, axes, dim), std::move(shape), tensor.strides());
}

Tensor selected(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t index) {
  Tensor::Shape shape;
  Tensor::Shape strides;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == dim) continue;
    shape.push_back(tensor.shape()[axis]);
    strides.push_back(tensor.strides()[axis]);
  }
  return view_at(tensor, index * stride_along(tensor, axes, dim), std::move(shape), std::move(strides));
}

Tensor reordered(const Tensor& tensor, const std::vector<DimId>& axes, const std::vector<DimId>& order) {
  std::vector<std::size_t> from;
  for (const DimId d : order) {
    from.push_back(static_cast<std::size_t>(std::find(axes.begin(), axes.end(), d) - axes.begin()));
  }
  return tensor.permuted(from);
}

std::vector<DimId> without(const std::vector<DimId>& axes, DimId dim) {
  std::vector<DimId> rest = axes;
  std::erase(rest, dim);
  return rest;
}

}  // namespace plated::chain
