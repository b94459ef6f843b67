// The planner's view of a graph, without trivial dims and barren variables.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::planner {

using base::SortedSet;

/// A factor as Algorithm 1 sees it.
struct ProblemFactor {
  /// The operand it stands for, or −1: a variable that no factor holds has a factor of ones of its own.
  std::int64_t operand = -1;
  SortedSet variables;
  SortedSet plates;   // P(f), tied ones included
  SortedSet carried;  // the dims its operand has axes for: variables, plates and batch dims
};

/// An output as the planner sees it.
struct ProblemOutput {
  SortedSet variables;
  SortedSet plates;  // ∪ P(v) over its variables; other plates that are written are broadcasts
  /// It has no elements (a dim of size 0), so nothing computes it.
  bool empty = false;
};

struct Problem {
  std::vector<std::int64_t> size;          // [dim]
  std::vector<DimKind> kind;               // [dim]
  std::vector<SortedSet> variable_plates;  // [dim]: P(v)
  std::vector<ProblemFactor> factors;
  std::vector<ProblemOutput> outputs;
  std::vector<DimId> dropped;  // barren variables
};

/// Reads a graph. Dims of size 1 disappear (pass `drop_unit_dims`), and so does everything inside a plate of size 0.
/// With `sums_only`, barren variables go with their conditional factors (pass `drop_barren`).
[[nodiscard]] Problem read_problem(const FactorGraph& graph, bool sums_only, const std::set<std::string>& without);

}  // namespace plated::planner
