// The observed numbers of one factor, as features, in stretches that loops run through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "likelihood/density.hpp"

namespace plated::likelihood {

/// Cells one behind the other that are alike: numbers that the density sees, or zeros that inflation sees, of one group
/// of components.
struct Stretch {
  std::size_t begin = 0;  ///< cells
  std::size_t end = 0;
  std::size_t feature = 0;  ///< the first of them among the features
  std::size_t group = 0;
  bool zeros = false;
};

/// Cells are numbered as the data are, row-major. Those that are missing are in no stretch.
class Cells {
 public:
  /// `numbers` are NaN where they are missing, and have all been found to be in the support (or zero, if `inflated`).
  /// `groups` says which parameters each cell has; empty: the same for all.
  Cells(const Density& density, bool inflated, std::span<const double> numbers, std::span<const std::uint32_t> groups);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Those that are not missing.
  [[nodiscard]] std::size_t seen() const;
  [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }
  [[nodiscard]] const double* features(std::size_t which) const { return features_[which].data(); }
  /// What log-probabilities have besides the coefficients' share; nullptr: nothing.
  [[nodiscard]] const double* base() const { return base_.empty() ? nullptr : base_.data(); }

 private:
  std::size_t size_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<double>> features_;
  std::vector<double> base_;
};

}  // namespace plated::likelihood
