// Applies rotations at a falling temperature.
#include "planner/order_anneal.hpp"

#include <cmath>

namespace plated::planner {
namespace {

// Moves between two changes of the temperature.
constexpr std::uint64_t stride = 256;

/// Whether chance takes a move that makes a part dearer: chance < ratio^beta, for a ratio below 1.
bool is_taken(double ratio, double beta, double chance) {
  // Most are refused by the square alone, which is larger than the power by more than rounding.
  constexpr double beyond_rounding = 1.0 + 1e-9;
  if (beta >= 2 && chance > beyond_rounding * ratio * ratio) return false;
  return chance < std::pow(ratio, beta);
}

}  // namespace

void anneal(OrderTree& tree, const AnnealOptions& options, base::Random& random, const Deadline& deadline) {
  const std::uint32_t inner = tree.leaves() - 1;
  if (inner < 2) return;
  const double steps = std::floor(static_cast<double>(options.moves) / static_cast<double>(stride)) + 1;
  const double growth = std::pow(options.last_beta / options.first_beta, 1 / steps);
  double beta = options.first_beta;
  for (std::uint64_t move = 0; move < options.moves; ++move) {
    if (move % stride == 0) {
      beta *= growth;
      if (deadline.passed()) return;
    }
    const std::uint32_t node = tree.leaves() + random.below(inner);
    const std::uint64_t coins = random.bits();
    std::uint32_t child = (coins & 1) != 0 ? tree.left(node) : tree.right(node);
    if (tree.is_leaf(child)) child = (coins & 1) != 0 ? tree.right(node) : tree.left(node);
    if (tree.is_leaf(child)) continue;
    const std::uint32_t c = (coins & 2) != 0 ? tree.left(child) : tree.right(child);
    const OrderTree::Rotation rotation = tree.price(node, child, c);
    const double before = tree.flops(node) + tree.flops(child);
    const double after = rotation.node_flops + rotation.child_flops;
    if (after <= before || is_taken(before / after, beta, random.uniform())) tree.rotate(rotation);
  }
}

}  // namespace plated::planner
