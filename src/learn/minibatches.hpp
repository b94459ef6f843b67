// Blocks of a plate that each stand for all of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "learn/blocks.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// Slices of a block weigh as much as all slices do, so that what is counted in it is an estimate of all counts, and
/// the mean of its ln Z over all blocks is ln Z of the data.
class Minibatches {
 public:
  /// Of a model with its data. Throws UnknownNameError and OptionError for a plate that cannot be
  /// cut: a factor has an axis for it, or a variable outside of it that is not observed joins its slices.
  Minibatches(const Model& observed, const Data& data, const FitOptions& options, const std::vector<bool>& counted);

  [[nodiscard]] const Blocks& blocks() const { return *blocks_; }
  /// The part of all data that a block has.
  [[nodiscard]] double share(std::size_t block) const { return shares_[block]; }

 private:
  std::optional<Blocks> blocks_;
  std::vector<double> shares_;
};

}  // namespace plated::learn
