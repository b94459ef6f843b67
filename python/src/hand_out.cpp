// Hands answers out as arrays of the caller's library.
#include <memory>

#include "arrays.hpp"

namespace plated::python {
namespace {

template <class Memory>
nb::object hand_out(std::unique_ptr<Memory> memory, void* data, const std::vector<std::int64_t>& shape,
                    nb::dlpack::dtype dtype, Library library) {
  std::vector<std::size_t> extents(shape.begin(), shape.end());
  const nb::capsule owner(memory.release(), [](void* held) noexcept { delete static_cast<Memory*>(held); });
  const auto make = [&]<class Framework>(Framework) {
    return nb::cast(nb::ndarray<Framework>(data, extents.size(), extents.data(), owner, nullptr, dtype));
  };
  switch (library) {
    case Library::torch:
      return make(nb::pytorch());
    case Library::jax:
      return make(nb::jax());
    case Library::numpy:
      break;
  }
  return make(nb::numpy());
}

}  // namespace

nb::object to_python(Tensor tensor, Library library) {
  auto memory = std::make_unique<Tensor>(std::move(tensor));
  void* data = memory->mutable_data();
  const nb::dlpack::dtype dtype = memory->dtype() == Dtype::float32 ? nb::dtype<float>() : nb::dtype<double>();
  const Tensor::Shape shape = memory->shape();
  return hand_out(std::move(memory), data, shape, dtype, library);
}

nb::object to_python(Integers integers, Library library) {
  auto memory = std::make_unique<Integers>(std::move(integers));
  void* data = memory->values.data();
  const std::vector<std::int64_t> shape = memory->shape;
  nb::object array = hand_out(std::move(memory), data, shape, nb::dtype<std::int64_t>(), library);
  // The buffer protocol's 64 bits are "long long", which NumPy tells apart from its int64.
  return library == Library::numpy ? array.attr("view")("int64") : array;
}

nb::list to_list(std::vector<Tensor> tensors, Library library) {
  nb::list list;
  for (Tensor& tensor : tensors) {
    list.append(tensor.data() == nullptr ? nb::none() : to_python(std::move(tensor), library));
  }
  return list;
}

nb::object one_or_tuple(std::vector<Tensor> tensors, Library library) {
  if (tensors.size() == 1) return to_python(std::move(tensors.front()), library);
  return nb::tuple(to_list(std::move(tensors), library));
}

}  // namespace plated::python
