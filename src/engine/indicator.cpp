// Fills tables of ones and zeros.
#include "engine/indicator.hpp"

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "engine/write_entries.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::engine {
namespace {

template <class T>
void fill(const IntegerView& observed, std::int64_t states, T zero, T one, T* table) {
  for (const std::int64_t value : observed) {
    for (std::int64_t s = 0; s < states; ++s) *table++ = value == -1 || value == s ? one : zero;
  }
}

/// Whether it has the shape of all slices; false: that of the plates alone.
bool check_observed(const IntegerView& observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                    std::size_t batch) {
  const std::vector<std::int64_t> plates(slices.begin() + static_cast<std::ptrdiff_t>(batch), slices.end());
  const std::string name = graph::quoted(variable.name);
  if (observed.shape() != slices && observed.shape() != plates) {
    throw ShapeError("the evidence for " + name + " has the shape " + shape_text(observed.shape()) +
                     ", but its plates have " + shape_text(plates) +
                     (batch > 0 ? ", or with batch dims " + shape_text(slices) : ""));
  }
  if (observed.data() == nullptr && base::checked_product(observed.shape()) > 0) {
    throw NullDataError("the evidence for " + name + " has no data");
  }
  tensor::check_states(observed, variable.name, variable.size);
  return observed.shape() == slices;
}

}  // namespace

Tensor states(const IntegerView& observed, const Dim& variable, const std::vector<std::int64_t>& slices,
              std::size_t batch) {
  (void)check_observed(observed, variable, slices, batch);
  return Tensor::states(tensor::dtype_of(observed.type()), observed.data(), observed.shape(), observed.strides());
}

void put_observed(const IntegerView& observed, Integers& answer) {
  for (std::size_t k = 0; k < answer.values.size(); ++k) {
    const std::int64_t state = observed[k % observed.size()];
    if (state >= 0) answer.values[k] = state;
  }
}

void put_observed(const IntegerView& observed, std::span<const double> of_batch, double zero, const Tensor& answer) {
  if (answer.elements() == 0) return;
  const std::int64_t states = answer.shape().back();
  const std::int64_t of_one = answer.elements() / states / static_cast<std::int64_t>(of_batch.size());
  Tensor::Iterator before = answer.begin();
  write_entries(answer, [&](std::int64_t k) {
    const std::int64_t cell = k / states;
    const std::int64_t state = observed[static_cast<std::size_t>(cell) % observed.size()];
    const double known = *before++;
    if (state < 0) return known;
    return state == k % states ? of_batch[static_cast<std::size_t>(cell / of_one)] : zero;
  });
}

Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(static_cast<float>(value)) : Tensor::scalar(value);
  return one.broadcast(shape);
}

namespace {

std::pair<double, double> zero_and_one(Semiring semiring) {
  return semiring::dispatch(semiring, [](auto ring) {
    using Ring = decltype(ring);
    return std::pair<double, double>(Ring::zero(), Ring::one());
  });
}

}  // namespace

void put_indicator(const IntegerView& observed, const Dim& variable, Semiring semiring, const Tensor& table) {
  tensor::check_states(observed, variable.name, variable.size);
  const auto [zero, one] = zero_and_one(semiring);
  const std::int64_t states = variable.size;
  write_entries(table, [&, &none = zero, &all = one](std::int64_t k) {
    const std::int64_t state = observed[static_cast<std::size_t>(k / states) % observed.size()];
    return state == -1 || state == k % states ? all : none;
  });
}

Tensor indicator(const IntegerView* observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                 std::size_t batch, Semiring semiring, Dtype dtype) {
  const auto [zero, one] = zero_and_one(semiring);
  std::vector<std::int64_t> shape = slices;
  shape.push_back(variable.size);
  if (observed == nullptr) return constant(one, dtype, shape);
  const bool shared = !check_observed(*observed, variable, slices, batch);
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
