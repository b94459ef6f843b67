// Takes logarithms.
#include "engine/logarithms.hpp"

#include <algorithm>
#include <cmath>

#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated::engine {

Logarithms logarithms(const Tensor& weights, const std::string& what) {
  constexpr std::int64_t work_of_a_logarithm = 16;  // about, in nanoseconds
  Logarithms result;
  std::vector<double> values = weights.values();
  base::Pace pace;
  for (double& x : values) {
    if (pace.stops(work_of_a_logarithm)) base::check_wanted();
    if (x < 0) throw ValueError(what + " has a negative entry, and a posterior needs weights");
    x = std::log(x);
    if (std::isfinite(x)) result.magnitude = std::max(result.magnitude, std::abs(x));
  }
  result.tensor = Tensor::of(weights.shape(), values);
  return result;
}

}  // namespace plated::engine
