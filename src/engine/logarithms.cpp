// Takes logarithms.
#include "engine/logarithms.hpp"

#include <algorithm>
#include <cmath>

#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated::engine {

Logarithms logarithms(const Tensor& weights, const std::string& what, Tensor memory) {
  constexpr std::int64_t work_of_a_logarithm = 16;  // about, in nanoseconds
  Logarithms result;
  const bool fits = memory.data() != nullptr && memory.dtype() == Dtype::float64 && memory.shape() == weights.shape();
  result.tensor = fits ? std::move(memory) : Tensor::uninitialised(Dtype::float64, weights.shape());
  if (weights.elements() > 0 && weights.data() == nullptr) throw NullDataError("a tensor without data was read");
  auto* to = static_cast<double*>(result.tensor.mutable_data());
  base::Pace pace;
  for (const double weight : weights) {
    if (pace.stops(work_of_a_logarithm)) base::check_wanted();
    if (weight < 0) throw ValueError(what + " has a negative entry, and a posterior needs weights");
    const double x = std::log(weight);
    if (std::isfinite(x)) result.magnitude = std::max(result.magnitude, std::abs(x));
    *to++ = x;
  }
  return result;
}

}  // namespace plated::engine
