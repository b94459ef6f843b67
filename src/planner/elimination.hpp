// [TVE] Algorithm 1 as a structure: which component is eliminated in which leaf, and the id of its message.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/problem.hpp"

namespace plated::planner {

/// A factor of the shrinking graph: an original one, or the message f′ of a component.
struct Node {
  std::uint32_t factor = none;    // index into Problem::factors
  std::uint32_t producer = none;  // index into Elimination::components
  std::uint32_t consumer = none;  // the component that takes it; none for the scalars S
  /// It is another for each slice of an output: computed without something, or of no later slices of a chain.
  bool changes = false;
  SortedSet variables;
  SortedSet plates;
};

/// How a component whose variables a chain links is eliminated: by messages along the chain, which leave its slices.
struct ScanRecord {
  DimId chain = 0;
  std::vector<ProblemLink> links;
  bool forward = false;                 // from the first slice to the last
  std::vector<std::uint32_t> absorbed;  // nodes that the first message is the product of
  /// Ends where messages begin that something holds, and that is not absorbed: messages carry them along.
  SortedSet carried;

  /// Where messages come out, if something names that end.
  [[nodiscard]] const std::optional<DimId>& result(const ProblemLink& link) const {
    return forward ? link.last : link.first;
  }
  /// The ends where messages come out among some variables.
  [[nodiscard]] SortedSet results(const SortedSet& variables) const;
};

/// One pass through the inner loop: SumProduct(F_c, V_c) in leaf L, then Product over L ∖ L′.
struct ComponentRecord {
  SortedSet leaf;                    // L
  SortedSet variables;               // V_c
  std::vector<std::uint32_t> nodes;  // F_c
  SortedSet remaining;               // V_f
  SortedSet parent;                  // L′
  std::uint32_t result = none;       // the node it leaves
  std::optional<ScanRecord> scan;
};

struct Elimination {
  std::vector<Node> nodes;
  std::vector<ComponentRecord> components;  // in the order of elimination
  std::vector<std::uint32_t> scalars;       // S: nodes
};

/// Runs Algorithm 1 on plate sets and edges alone. Throws IntractableError with a certificate of names from `graph`.
[[nodiscard]] Elimination eliminate(const Problem& problem, const FactorGraph& graph);

}  // namespace plated::planner
