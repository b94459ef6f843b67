// Finds what is not there, and overwrites it.
#include "api/erase.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "semiring/dispatch.hpp"

namespace plated::api {
namespace {

/// Calls visit(k, index) for each index of some dims, in row-major order.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& shape, const Visit& visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  const std::int64_t count = base::checked_product(shape);
  base::Pace pace;
  for (std::int64_t k = 0; k < count; ++k) {
    if (pace.stops(static_cast<std::int64_t>(shape.size()) + 1)) base::check_wanted();
    visit(static_cast<std::size_t>(k), at);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
}

}  // namespace

std::vector<double> product_over(const Call& call, const Exponents& exponents, const std::vector<DimId>& dims) {
  const std::vector<std::int64_t> shape = call.shape(dims);
  std::vector<double> product(static_cast<std::size_t>(base::checked_product(shape)), 1.0);
  for (const auto& entry : exponents) {
    const Exponent& exponent = entry.second;
    if (!chain::holds(dims, entry.first)) continue;
    std::vector<DimId> kept;
    for (const DimId d : exponent.axes) {
      if (chain::holds(dims, d)) kept.push_back(d);
    }
    const std::vector<std::int64_t> strides = Tensor::row_major(call.shape(kept));
    const auto place = [&](const std::vector<DimId>& axes, const std::vector<std::int64_t>& at) {
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        const auto found = std::find(kept.begin(), kept.end(), axes[k]);
        if (found != kept.end()) offset += at[k] * strides[static_cast<std::size_t>(found - kept.begin())];
      }
      return static_cast<std::size_t>(offset);
    };
    std::vector<double> largest(static_cast<std::size_t>(base::checked_product(call.shape(kept))), 0.0);
    for_each_index(call.shape(exponent.axes), [&](std::size_t k, const std::vector<std::int64_t>& at) {
      double& most = largest[place(exponent.axes, at)];
      most = std::max(most, exponent.values[k]);
    });
    for_each_index(shape,
                   [&](std::size_t k, const std::vector<std::int64_t>& at) { product[k] *= largest[place(dims, at)]; });
  }
  return product;
}

void erase(const Call& call, const Exponents& exponents, const std::vector<DimId>& axes, const Tensor& answer,
           double value) {
  const bool concerned = std::any_of(exponents.begin(), exponents.end(),
                                     [&](const auto& entry) { return chain::holds(axes, entry.first); });
  if (!concerned) return;
  const std::vector<double> exponent = product_over(call, exponents, axes);
  for_each_index(answer.shape(), [&](std::size_t k, const std::vector<std::int64_t>& at) {
    if (exponent[k] != 0) return;
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * answer.strides()[axis];
    if (answer.dtype() == Dtype::float32) {
      static_cast<float*>(answer.mutable_data())[offset] = static_cast<float>(value);
    } else {
      static_cast<double*>(answer.mutable_data())[offset] = value;
    }
  });
}

void erase(const Call& call, const Exponents& exponents, const std::vector<DimId>& axes, Integers& states) {
  if (exponents.empty()) return;
  const std::vector<double> exponent = product_over(call, exponents, axes);
  for (std::size_t k = 0; k < states.values.size(); ++k) {
    if (exponent[k % exponent.size()] == 0) states.values[k] = -1;
  }
}

void erase_outputs(const Call& call, std::span<const Tensor> outputs, double value) {
  if (call.plan.chains || call.lengths().empty()) return;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    erase(call, call.presence(), call.graph.outputs()[o].dims, outputs[o], value);
  }
}

void erase_outputs(const Call& call, std::span<const Tensor> outputs, Semiring semiring) {
  erase_outputs(call, outputs, semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::zero(); }));
}

}  // namespace plated::api
