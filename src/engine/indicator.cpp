// Fills tables of ones and zeros.
#include "engine/indicator.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/check_entries.hpp"

namespace plated::engine {
namespace {

template <class T>
void fill(const Integers& observed, std::int64_t states, T zero, T one, T* table) {
  for (const std::int64_t value : observed.values) {
    for (std::int64_t s = 0; s < states; ++s) *table++ = value == -1 || value == s ? one : zero;
  }
}

/// Whether it has the shape of all slices; false: that of the plates alone.
bool check_observed(const Integers& observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                    std::size_t batch) {
  const std::vector<std::int64_t> plates(slices.begin() + static_cast<std::ptrdiff_t>(batch), slices.end());
  const std::string name = graph::quoted(variable.name);
  if (observed.shape != slices && observed.shape != plates) {
    throw ShapeError("the evidence for " + name + " has the shape " + shape_text(observed.shape) +
                     ", but its plates have " + shape_text(plates) +
                     (batch > 0 ? ", or with batch dims " + shape_text(slices) : ""));
  }
  const std::int64_t count = base::checked_product(observed.shape);
  if (static_cast<std::int64_t>(observed.values.size()) != count) {
    throw ShapeError("the evidence for " + name + " has " + std::to_string(observed.values.size()) +
                     " values, but its shape " + shape_text(observed.shape) + " has " + std::to_string(count));
  }
  tensor::check_states(observed, variable.name, variable.size);
  return observed.shape == slices;
}

template <class T>
void put(const Integers& observed, std::span<const double> of_batch, double zero, std::int64_t cells,
         std::int64_t states, T* entries) {
  const auto count = static_cast<std::int64_t>(observed.values.size());
  const std::int64_t of_one = cells / static_cast<std::int64_t>(of_batch.size());
  for (std::int64_t c = 0; c < cells; ++c, entries += states) {
    const std::int64_t state = observed.values[static_cast<std::size_t>(c % count)];
    if (state < 0) continue;
    std::fill_n(entries, states, static_cast<T>(zero));
    entries[state] = static_cast<T>(of_batch[static_cast<std::size_t>(c / of_one)]);
  }
}

}  // namespace

Tensor states(const Integers& observed, const Dim& variable, const std::vector<std::int64_t>& slices,
              std::size_t batch) {
  (void)check_observed(observed, variable, slices, batch);
  return Tensor::view(observed.values.data(), observed.shape);
}

void put_observed(const Integers& observed, Integers& answer) {
  for (std::size_t k = 0; k < answer.values.size(); ++k) {
    const std::int64_t state = observed.values[k % observed.values.size()];
    if (state >= 0) answer.values[k] = state;
  }
}

void put_observed(const Integers& observed, std::span<const double> of_batch, double zero, const Tensor& answer) {
  if (answer.elements() == 0) return;
  const std::int64_t states = answer.shape().back();
  const std::int64_t cells = answer.elements() / states;
  if (answer.dtype() == Dtype::float32) {
    put(observed, of_batch, zero, cells, states, static_cast<float*>(answer.mutable_data()));
  } else {
    put(observed, of_batch, zero, cells, states, static_cast<double*>(answer.mutable_data()));
  }
}

Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(static_cast<float>(value)) : Tensor::scalar(value);
  return one.broadcast(shape);
}

Tensor indicator(const Integers* observed, const Dim& variable, const std::vector<std::int64_t>& slices,
                 std::size_t batch, Semiring semiring, Dtype dtype) {
  const auto [zero, one] = semiring::dispatch(semiring, [](auto ring) {
    using Ring = decltype(ring);
    return std::pair<double, double>(Ring::zero(), Ring::one());
  });
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
