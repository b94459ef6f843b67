// [TVE] Algorithm 1 as a structure: which component is eliminated in which leaf, and the id of its message.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/problem.hpp"

namespace plated::planner {

inline constexpr std::uint32_t none = 0xffffffff;

/// A factor of the shrinking graph: an original one, or the message f′ of a component.
struct Node {
  std::uint32_t factor = none;    // index into Problem::factors
  std::uint32_t producer = none;  // index into Elimination::components
  std::uint32_t consumer = none;  // the component that takes it; none for the scalars S
  SortedSet variables;
  SortedSet plates;
};

/// One pass through the inner loop: SumProduct(F_c, V_c) in leaf L, then Product over L ∖ L′.
struct ComponentRecord {
  SortedSet leaf;                    // L
  SortedSet variables;               // V_c
  std::vector<std::uint32_t> nodes;  // F_c
  SortedSet remaining;               // V_f
  SortedSet parent;                  // L′
  std::uint32_t result = none;       // the node it leaves
};

struct Elimination {
  std::vector<Node> nodes;
  std::vector<ComponentRecord> components;  // in the order of elimination
  std::vector<std::uint32_t> scalars;       // S: nodes
};

/// Runs Algorithm 1 on plate sets and edges alone. Throws IntractableError with a certificate of names from `graph`.
[[nodiscard]] Elimination eliminate(const Problem& problem, const FactorGraph& graph);

}  // namespace plated::planner
