// The budgeted search: restarts of every strategy, then local improvement of the best trees.
#pragma once

#include <cstdint>
#include <limits>

#include "planner/contraction_order.hpp"
#include "planner/order_deadline.hpp"

namespace plated::planner {

struct SearchOptions {
  double trials = 128;  ///< greedy passes' worth of work
  std::uint64_t seed = 0;
  double runs = 0;  ///< as in OrderOptions
  double log2_most = std::numeric_limits<double>::infinity();

  /// What a tree costs: its operations, as a base-2 logarithm, and far more where its intermediates are too large.
  [[nodiscard]] double cost(const Network& network, const Tree& tree, double log2_flops) const;
};

/// Trials that a network gets of those asked for: all while it is small, then in inverse proportion to its tensors, so
/// that the work stays about the same.
[[nodiscard]] double affordable_trials(int trials, std::size_t tensors);

/// For a connected network of at least two tensors.
[[nodiscard]] Tree search_order(const Network& network, const SearchOptions& options, const Deadline& deadline);

/// Local improvement alone, for a tree that is already good.
[[nodiscard]] Tree polish_order(const Network& network, Tree tree, const SearchOptions& options,
                                const Deadline& deadline);

}  // namespace plated::planner
