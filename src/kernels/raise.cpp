// Raises the elements of a row, one after the other.
#include "kernels/raise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/watch.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

// Elements between two questions whether to stop, and what one takes, about, in nanoseconds.
constexpr std::int64_t powers_at_once = 256;
constexpr std::int64_t work_of_a_power = 16;

template <class Ring>
double power(double x, double exponent) {
  if (exponent == 0) return Ring::one();
  if (x == Ring::zero()) return Ring::zero();
  if constexpr (Ring::one() == 0) {
    return x * exponent;  // a semiring of logarithms
  } else {
    return std::pow(x, exponent);
  }
}

template <>
double power<semiring::Boolean>(double x, double exponent) {
  return exponent == 0 ? semiring::Boolean::one() : x;
}

/// Where element k of the loops lies.
std::int64_t offset_of(const RaiseShape& shape, const std::vector<std::int64_t>& stride, std::int64_t k) {
  std::int64_t offset = 0;
  for (std::size_t loop = shape.extent.size(); loop-- > 0; k /= shape.extent[loop]) {
    offset += k % shape.extent[loop] * stride[loop];
  }
  return offset;
}

}  // namespace

void raise(const RaiseShape& shape, std::span<const void* const> inputs, double* output, std::int64_t first,
           std::int64_t last) noexcept {
  const std::size_t loops = shape.extent.size();
  const std::int64_t row = loops == 0 ? 1 : shape.extent[loops - 1];
  const auto step = [&](const std::vector<std::int64_t>& stride) { return loops == 0 ? 0 : stride[loops - 1]; };
  semiring::dispatch(shape.semiring, [&](auto ring) {
    base::Pace pace;
    double exponents[powers_at_once];
    // Parts of rows.
    for (std::int64_t k = first; k < last;) {
      const std::int64_t count = std::min({row - k % row, last - k, powers_at_once});
      std::fill_n(exponents, count, 1.0);
      for (std::size_t e = 0; e < shape.exponent_stride.size(); ++e) {
        const std::vector<std::int64_t>& stride = shape.exponent_stride[e];
        const double* const exponent = static_cast<const double*>(inputs[e + 1]) + offset_of(shape, stride, k);
        for (std::int64_t c = 0; c < count; ++c) exponents[c] *= exponent[c * step(stride)];
      }
      const double* const base = static_cast<const double*>(inputs[0]) + offset_of(shape, shape.base_stride, k);
      double* const out = output + offset_of(shape, shape.output_stride, k);
      for (std::int64_t c = 0; c < count; ++c) {
        out[c * step(shape.output_stride)] =
            power<decltype(ring)>(base[c * step(shape.base_stride)], exponents[c] - shape.less);
      }
      k += count;
      if (pace.stops(work_of_a_power * count)) return;
    }
  });
}

}  // namespace plated::kernels
