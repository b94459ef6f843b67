// A naive contraction, nested loops in long double, which every strategy is compared with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/contraction.hpp"

namespace plated::kernels::testing {

using Real = long double;

inline Real zero_of(Semiring s) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  return s == Semiring::log || s == Semiring::max_plus ? -infinity : s == Semiring::min_plus ? infinity : Real{0};
}
inline Real one_of(Semiring s) {
  return s == Semiring::log || s == Semiring::max_plus || s == Semiring::min_plus ? Real{0} : Real{1};
}
inline Real multiplied(Semiring s, Real a, Real b) {
  if (a == zero_of(s) || b == zero_of(s)) return zero_of(s);
  if (s == Semiring::boolean) return 1;
  return s == Semiring::real || s == Semiring::max_product ? a * b : a + b;
}
inline Real added(Semiring s, Real a, Real b) {
  switch (s) {
    case Semiring::real:
      return a + b;
    case Semiring::log: {
      const Real high = std::max(a, b);
      return high == zero_of(s) ? high : high + std::log(std::exp(a - high) + std::exp(b - high));
    }
    case Semiring::min_plus:
      return std::min(a, b);
    case Semiring::boolean:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return std::max(a, b);
  }
}

inline Real element(const void* data, Dtype dtype, std::int64_t offset) {
  return dtype == Dtype::float32 ? Real{static_cast<const float*>(data)[offset]}
                                 : Real{static_cast<const double*>(data)[offset]};
}

/// Calls body(index) for every index of the loops of one role; the others keep their value.
template <class Body>
void for_each_index(const ContractionShape& shape, Role role, std::vector<std::int64_t>& index, const Body& body,
                    std::size_t loop = 0) {
  if (loop == shape.extent.size()) return body();
  if (shape.role[loop] != role) return for_each_index(shape, role, index, body, loop + 1);
  for (index[loop] = 0; index[loop] < shape.extent[loop]; ++index[loop]) {
    for_each_index(shape, role, index, body, loop + 1);
  }
  index[loop] = 0;
}

inline std::int64_t offset_of(const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& index) {
  std::int64_t offset = 0;
  for (std::size_t l = 0; l < index.size(); ++l) offset += stride[l] * index[l];
  return offset;
}

/// Calls result(output offset, value, magnitude) for every kept index; magnitude bounds what errors are relative to.
template <class Result>
void naive_contraction(const ContractionShape& shape, const std::vector<const void*>& inputs, const Result& result) {
  std::vector<std::int64_t> index(shape.extent.size(), 0);
  const Semiring s = shape.semiring;
  for_each_index(shape, Role::kept, index, [&] {
    Real product = one_of(s);
    for_each_index(shape, Role::product, index, [&] {
      Real sum = zero_of(s);
      for_each_index(shape, Role::sum, index, [&] {
        Real term = one_of(s);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          term = multiplied(s, term, element(inputs[i], shape.input_dtype[i], offset_of(shape.input_stride[i], index)));
        }
        sum = added(s, sum, term);
      });
      product = multiplied(s, product, sum);
    });
    Real powered = one_of(s);
    for (std::int64_t n = 0; n < shape.power; ++n) powered = multiplied(s, powered, product);
    result(offset_of(shape.output_stride, index), powered);
  });
}

}  // namespace plated::kernels::testing
