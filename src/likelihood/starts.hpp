// Random starts of likelihoods, from the numbers that were observed.
#pragma once

#include <span>
#include <vector>

#include "base/random.hpp"
#include "likelihood/components.hpp"

namespace plated::likelihood {

/// Some of the numbers that were observed, sorted, and what share of all of them is zero.
struct Sampled {
  std::vector<double> numbers;  ///< that the density sees
  double zeros = 0;
};

/// Numbers evenly spaced in their order, where there are many; NaN is missing.
[[nodiscard]] Sampled sampled(const Components& components, std::span<const std::vector<double>> numbers);

/// Each component is the estimate of a stretch of neighbouring numbers, with a little weight on all others. The
/// stretches of one group's components lie apart.
void draw(const Components& components, const Sampled& sample, base::Random& random, std::span<double> coordinates);

}  // namespace plated::likelihood
