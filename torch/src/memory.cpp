// The memory of libtorch's tensors as Plated's, and the other way round.
#include <ATen/ATen.h>

#include <string>

#include "plated/error.hpp"
#include "plated/torch/einsum.hpp"

namespace plated::torch {

namespace {

void check_memory(const at::Tensor& tensor) {
  if (!tensor.defined()) throw NullDataError("a tensor that is not defined was given to plated::torch");
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided) {
    throw ValueError("plated::torch takes dense tensors of the CPU, not one on " + tensor.device().str() +
                     "; .cpu() or .to_dense() moves it");
  }
}

std::shared_ptr<void> owner_of(const at::Tensor& tensor) { return std::make_shared<at::Tensor>(tensor.detach()); }

}  // namespace

Tensor view(const at::Tensor& tensor) {
  check_memory(tensor);
  Tensor::Shape shape = tensor.sizes().vec();
  Tensor::Shape strides = tensor.strides().vec();
  // Without elements there may be no memory, which Plated would take for a tensor without data.
  if (tensor.numel() == 0) {
    if (tensor.scalar_type() == at::kFloat) return {Dtype::float32, std::move(shape)};
    if (tensor.scalar_type() == at::kDouble) return {Dtype::float64, std::move(shape)};
  }
  if (tensor.scalar_type() == at::kFloat) {
    return Tensor::view(static_cast<float*>(tensor.data_ptr()), std::move(shape), std::move(strides))
        .keeping(owner_of(tensor));
  }
  if (tensor.scalar_type() == at::kDouble) {
    return Tensor::view(static_cast<double*>(tensor.data_ptr()), std::move(shape), std::move(strides))
        .keeping(owner_of(tensor));
  }
  throw ValueError(std::string("plated::torch takes float32 and float64 tensors, not ") +
                   c10::toString(tensor.scalar_type()) + "; .to(torch::kDouble) converts it");
}

IntegerView integers(const at::Tensor& tensor) {
  check_memory(tensor);
  const auto view_as = [&]<class T>(const T* data) {
    static constexpr T nothing = 0;
    return IntegerView::view(tensor.numel() == 0 ? &nothing : data, tensor.sizes().vec(), tensor.strides().vec())
        .keeping(owner_of(tensor));
  };
  const void* data = tensor.const_data_ptr();
  switch (tensor.scalar_type()) {
    case at::kBool:
    case at::kByte:
      return view_as(static_cast<const std::uint8_t*>(data));
    case at::kChar:
      return view_as(static_cast<const std::int8_t*>(data));
    case at::kShort:
      return view_as(static_cast<const std::int16_t*>(data));
    case at::kInt:
      return view_as(static_cast<const std::int32_t*>(data));
    case at::kLong:
      return view_as(static_cast<const std::int64_t*>(data));
    default:
      throw ValueError(std::string("evidence and lengths are integers, not ") + c10::toString(tensor.scalar_type()));
  }
}

at::Tensor tensor(const Tensor& answer) {
  const auto type = answer.dtype() == Dtype::float32 ? at::kFloat : at::kDouble;
  if (answer.elements() == 0) return at::empty(answer.shape(), type);
  return at::from_blob(
      answer.mutable_data(), answer.shape(), answer.strides(), [answer](void*) { (void)answer; }, type);
}

at::Tensor tensor(const Integers& answer) {
  at::Tensor result = at::empty(answer.shape, at::kLong);
  std::copy(answer.values.begin(), answer.values.end(), result.mutable_data_ptr<std::int64_t>());
  return result;
}

}  // namespace plated::torch
