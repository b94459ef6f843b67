// Fills tables of ones and zeros.
#include "engine/indicator.hpp"

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/check_entries.hpp"

namespace plated::engine {
namespace {

template <class T>
void fill(const IntegerView& observed, std::int64_t states, T zero, T one, T* table) {
  for (const std::int64_t value : observed) {
    for (std::int64_t s = 0; s < states; ++s) *table++ = value == -1 || value == s ? one : zero;
  }
}

}  // namespace

Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(static_cast<float>(value)) : Tensor::scalar(value);
  return one.broadcast(shape);
}

Tensor indicator(const IntegerView* observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                 std::size_t batch, Semiring semiring, Dtype dtype) {
  const auto [zero, one] = semiring::dispatch(semiring, [](auto ring) {
    using Ring = decltype(ring);
    return std::pair<double, double>(Ring::zero(), Ring::one());
  });
  std::vector<std::int64_t> shape = slices;
  shape.push_back(variable.size);
  if (observed == nullptr) return constant(one, dtype, shape);
  const std::vector<std::int64_t> plates(slices.begin() + static_cast<std::ptrdiff_t>(batch), slices.end());
  const std::string name = graph::quoted(variable.name);
  if (observed->shape() != slices && observed->shape() != plates) {
    throw ShapeError("the evidence for " + name + " has the shape " + shape_text(observed->shape()) +
                     ", but its plates have " + shape_text(plates) +
                     (batch > 0 ? ", or with batch dims " + shape_text(slices) : ""));
  }
  if (observed->data() == nullptr && base::checked_product(observed->shape()) > 0) {
    throw NullDataError("the evidence for " + name + " has no data");
  }
  tensor::check_states(*observed, variable.name, variable.size);
  const bool shared = observed->shape() != slices;
  if (shared) shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
  Tensor table(dtype, shape);
  if (dtype == Dtype::float32) {
    fill(*observed, variable.size, static_cast<float>(zero), static_cast<float>(one),
         static_cast<float*>(table.mutable_data()));
  } else {
    fill(*observed, variable.size, zero, one, static_cast<double*>(table.mutable_data()));
  }
  if (!shared) return table;
  return table.broadcast(std::vector(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(batch)));
}

}  // namespace plated::engine
