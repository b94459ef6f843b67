// What an output leaves out of each slice of a plate or chain, and all that changes without it.
#pragma once

#include <vector>

#include "planner/elimination.hpp"

namespace plated::planner {

/// Whole slices of a plate, or some factors of a chain's slices.
struct LeftOut {
  DimId of = 0;
  std::vector<bool> factors = {};  // [operand]: of a chain
};

/// The output that is the total without it, for each slice. Marks the nodes that change (Node::changes).
[[nodiscard]] ProblemOutput find_left_out(const FactorGraph& graph, const Problem& problem, const LeftOut& left_out,
                                          Elimination& elimination);
/// The axes of that output: batch dims, then plates and chains, the one that is left out of last.
[[nodiscard]] std::vector<DimId> left_out_axes(const FactorGraph& graph, const ProblemOutput& output,
                                               const LeftOut& left_out);

/// Variables of a plate that the problem has left out for its single slice: without that slice, they do not exist.
[[nodiscard]] SortedSet left_out_variables(const FactorGraph& graph, const Problem& problem);

}  // namespace plated::planner
