// Sorts cells into stretches, and computes their features once.
#include "likelihood/cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace plated::likelihood {

Cells::Cells(const Density& density, bool inflated, std::span<const double> numbers,
             std::span<const std::uint32_t> groups)
    : size_(numbers.size()), features_(density.features()) {
  std::array<double, 2> features{};
  std::size_t seen = 0;
  for (std::size_t cell = 0; cell < numbers.size(); ++cell) {
    if (std::isnan(numbers[cell])) continue;
    const std::size_t group = groups.empty() ? 0 : groups[cell];
    const bool zero = inflated && numbers[cell] == 0;
    const bool follows = !stretches_.empty() && stretches_.back().end == cell && stretches_.back().group == group &&
                         stretches_.back().zeros == zero;
    if (!follows) stretches_.push_back({.begin = cell, .end = cell, .feature = seen, .group = group, .zeros = zero});
    ++stretches_.back().end;
    if (zero) continue;
    double base = 0;
    density.observe(numbers[cell], std::span(features).first(features_.size()), base);
    for (std::size_t k = 0; k < features_.size(); ++k) features_[k].push_back(features[k]);
    base_.push_back(base);
    ++seen;
  }
  if (std::all_of(base_.begin(), base_.end(), [](double base) { return base == 0; })) base_.clear();
}

std::size_t Cells::seen() const {
  std::size_t sum = 0;
  for (const Stretch& stretch : stretches_) sum += stretch.end - stretch.begin;
  return sum;
}

}  // namespace plated::likelihood
