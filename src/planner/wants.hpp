// What outputs need of each component: its message, or products of all slices but one.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/goal.hpp"

namespace plated::planner {

class Wants {
 public:
  Wants(const Elimination& elimination, const Goals& goals);

  /// What a network reads that opens components, but for some nodes.
  void add(const Opened& opened, const SortedSet& without);
  /// What the network of a goal reads, and those of its contexts.
  void add(const Goal& goal);
  /// And what all of that is computed from.
  void spread();

  [[nodiscard]] bool message(std::uint32_t component) const { return message_[component]; }
  [[nodiscard]] bool leave_one_out(std::uint32_t component) const { return leave_one_out_[component]; }
  /// Whether messages before each slice are read again.
  [[nodiscard]] bool slices(std::uint32_t component) const { return slices_[component]; }

 private:
  void add_node(std::uint32_t node);

  const Elimination& elimination_;
  const Goals& goals_;
  std::vector<bool> message_, leave_one_out_, slices_;  // [component]
};

}  // namespace plated::planner
