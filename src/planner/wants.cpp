// Walks from outputs to the components that they need.
#include "planner/wants.hpp"

namespace plated::planner {

Wants::Wants(const Elimination& elimination, const Goals& goals)
    : elimination_(elimination),
      goals_(goals),
      message_(elimination.components.size(), false),
      leave_one_out_(elimination.components.size(), false),
      slices_(elimination.components.size(), false) {}

void Wants::add_node(std::uint32_t node) {
  const std::uint32_t producer = elimination_.nodes[node].producer;
  if (producer != none) message_[producer] = true;
}

void Wants::add(const Opened& opened, const SortedSet& without) {
  for (const std::uint32_t c : opened) {
    if (!elimination_.components[c].leaf.empty() && !goals_.is_scan(c)) leave_one_out_[c] = true;
    for (const std::uint32_t n : elimination_.components[c].nodes) {
      if (!base::contains(without, n) && !opened.contains(elimination_.nodes[n].producer)) add_node(n);
    }
  }
  for (const std::uint32_t n : elimination_.scalars) {
    if (!opened.contains(elimination_.nodes[n].producer)) add_node(n);
  }
}

void Wants::add(const Goal& goal) {
  const std::optional<std::uint32_t> scanned = goals_.scanned(goal);
  if (!scanned) return add(goals_.opened_by(goal), goal.without);
  const SplitGoal parts = goals_.split(goal, *scanned);
  add(parts.inside, goal.without);
  message_[*scanned] = slices_[*scanned] = true;
  add(parts.around);
}

/// A component's messages come from components before it.
void Wants::spread() {
  for (std::size_t c = elimination_.components.size(); c-- > 0;) {
    if (!message_[c] && !leave_one_out_[c]) continue;
    for (const std::uint32_t n : elimination_.components[c].nodes) add_node(n);
    if (const auto& along = elimination_.components[c].scan) {
      for (const std::uint32_t n : along->absorbed) add_node(n);
    }
  }
}

}  // namespace plated::planner
