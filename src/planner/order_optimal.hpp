// The cheapest tree of a small network, by dynamic programming over all subsets of its tensors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner {

/// A network of at most 16 tensors as bit masks. Dims that are in the same tensors are one class: no order can tell
/// them apart. `outside` marks the classes that something beyond these tensors holds, too; the result keeps them.
struct SmallNetwork {
  static constexpr std::size_t max_tensors = 16;
  static constexpr std::size_t max_classes = 64;

  std::size_t tensors = 0;
  std::size_t classes = 0;
  std::array<std::uint64_t, max_tensors> held{};
  std::uint64_t outside = 0;
  std::array<double, max_classes> size{};  // elements, not their logarithm
};

/// Reusable: keeps its tables between calls, because local improvement asks thousands of times.
class OptimalSolver {
 public:
  /// The least cost of any tree, outer products included; infinite where every tree overflows a double.
  /// A tree that costs `bound` or more is not looked for: the answer is then infinite.
  double solve(const SmallNetwork& network, double bound);

  /// The merges of the tree last found, ids as in Tree.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> merges() const;

 private:
  [[nodiscard]] double product(std::uint64_t classes) const;
  void tabulate(const SmallNetwork& network);
  void solve_subset(std::uint32_t subset, std::uint64_t open, double bound);

  std::size_t tensors_ = 0;
  std::size_t bytes_ = 0;
  std::array<std::array<double, 256>, 8> byte_product_;  // [byte of a mask][its value]: product of the sizes
  std::vector<std::uint64_t> touched_;                   // [subset]
  std::vector<std::uint64_t> open_;                      // [subset]
  std::vector<double> cost_;                             // [subset]
  std::vector<std::uint16_t> split_;                     // [subset]: one side of its best last merge
};

/// None where the network has more tensors than `limit` or too many classes of dims.
[[nodiscard]] std::optional<Tree> optimal_order(const Network& network, std::size_t limit);

}  // namespace plated::planner
