// Takes from an operand's slices what is common to their states, where it is so large that it would swallow the rest.
//
// A posterior does not change when a constant is subtracted from all states of one slice of an operand in log space:
// only differences between states count. Sums over slices of numbers like −1e30 or 1e12 have no digits left for them.
#pragma once

#include <optional>
#include <vector>

#include "engine/exponents.hpp"
#include "planner/extents.hpp"
#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// The constants of an operand's slices.
struct Offsets {
  std::vector<DimId> dims;  // of the operand, those that are no variables, each once
  Tensor values;            // float64
};

/// Up to this magnitude a factor's operand has no offsets that matter.
[[nodiscard]] double most_without_offsets(const FactorGraph& graph, const planner::Extents& extents, std::size_t factor,
                                          Dtype dtype);

/// The best entry of each slice, 0 where it has none, if they add up to so much that rounding would be felt. The
/// magnitude is the operand's, the semiring log, max_plus or min_plus.
[[nodiscard]] std::optional<Offsets> large_offsets(const FactorGraph& graph, const planner::Extents& extents,
                                                   std::size_t factor, const Tensor& operand, double magnitude,
                                                   Semiring semiring, int threads);

/// A copy of the operand without its offsets, in its own dtype. Zeros of the semiring stay zeros, and nothing else
/// becomes one. Off the diagonal of dims that repeat, which is never read, it is 0.
[[nodiscard]] Tensor recentred(const FactorGraph& graph, std::size_t factor, const Tensor& operand,
                               const Offsets& offsets, int threads);
/// The bytes of that copy.
[[nodiscard]] std::int64_t recentred_bytes(const FactorGraph& graph, std::size_t factor, const Tensor& operand);

/// Adds to an answer with the given axes, float64, what was subtracted from the slices of factors at each of its
/// indices, as often as the exponents count a slice. `offsets` has an entry for each factor, or none at all.
void add_offsets(const FactorGraph& graph, const planner::Extents& extents, const Exponents& exponents,
                 const std::vector<std::optional<Offsets>>& offsets, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, Tensor& answer);

}  // namespace plated::engine
