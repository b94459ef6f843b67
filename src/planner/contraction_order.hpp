// The order in which a network of tensors is contracted: a search that sees dims and sizes, never data.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace plated::planner {

/// A closed hypergraph of tensors: a dim is summed as soon as no other tensor holds it. An output is just one more
/// tensor that holds its dims. Each tensor lists its dims in ascending order, each once; a dim may be in any number of
/// them.
struct Network {
  std::vector<double> log2_size;                    // [dim]
  std::vector<std::vector<std::uint32_t>> tensors;  // [tensor]
  /// Dims that runs can be cut over: they do not count where memory does. Empty: none.
  std::vector<bool> sliced = {};  // [dim]
};

/// A rooted binary tree over a network's n tensors: merge k joins two nodes into node n + k; n − 1 merges in all.
/// Nodes 0 … n − 1 are the tensors.
struct Tree {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;
};

/// How to search.
enum class Strategy : std::uint8_t {
  automatic,  ///< optimal while small, beyond that the best of everything below within the budget
  optimal,    ///< dynamic programming; falls back to `greedy` beyond what it can do
  greedy,     ///< one deterministic greedy pass
  min_fill,   ///< one deterministic min-fill elimination
  search,     ///< randomised greedy and min-fill restarts, linear sweeps, and local improvement of the best trees
};

class OrderMemo;

struct OrderOptions {
  Strategy strategy = Strategy::automatic;
  /// Work the randomised search may do, in trials: one trial is about one greedy pass. Reproducible, unlike seconds.
  int trials = 128;
  /// Optional cap by the clock, in seconds; 0 is none. If it is reached, the result depends on the machine.
  double seconds = 0;
  std::uint64_t seed = 0;
  /// Runs that the order is for: the search stops where it has cost as much as they would. 0: very many.
  double runs = 0;
  /// Elements that intermediates may have together, as a base-2 logarithm: orders that keep to it are preferred to
  /// those that do not, and where none is found, the fewer elements the better.
  double log2_most = std::numeric_limits<double>::infinity();
  /// Where orders are looked for first, and kept; may be null.
  std::shared_ptr<OrderMemo> memo;
};

/// Scalar operations of a tree: Σ over merges of ∏ sizes of the dims of both nodes, as a base-2 logarithm.
[[nodiscard]] double log2_flops(const Network& network, const Tree& tree);
/// Elements of the largest intermediate, as a base-2 logarithm.
[[nodiscard]] double log2_largest(const Network& network, const Tree& tree);
/// Elements of all intermediates that are in use at a time, in one slice of what can be cut, as a base-2 logarithm.
[[nodiscard]] double log2_peak(const Network& network, const Tree& tree);

/// A good order. Deterministic for the same network and options (without a cap in seconds).
[[nodiscard]] Tree contraction_order(const Network& network, const OrderOptions& options = {});

}  // namespace plated::planner
