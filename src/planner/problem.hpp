// The planner's view of a graph, without trivial variables and barren ones.
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
  std::vector<std::int64_t> domain;        // [dim]: |dom(v)| of a variable; of other dims nothing is known
  std::vector<DimKind> kind;               // [dim]
  std::vector<SortedSet> variable_plates;  // [dim]: P(v)
  std::vector<ProblemFactor> factors;  // empty once a schedule is made
  std::vector<ProblemOutput> outputs;
  std::vector<DimId> dropped;  // barren variables
  SortedSet absent;            // dims that are left out: variables with one state and, where sizes are fixed, unit dims
  SortedSet fixed;             // plates, batch dims and chains whose size the graph gives and no run may change

  /// What a dim counts in choices that must not depend on the sizes of plates: a nominal size for these.
  [[nodiscard]] double nominal_size(DimId d) const;
};

struct ReadingOptions {
  /// Barren variables go with their conditional factors (pass `drop_barren`).
  bool sums_only = false;
  /// Plates and batch dims of size 1 disappear like variables of one state (pass `drop_unit_dims`), and so does
  /// everything inside a plate of size 0.
  bool fixed_sizes = false;
  /// Plates that stay even so if they have one slice: it may stand for several.
  SortedSet weighted = {};
};
[[nodiscard]] Problem read_problem(const FactorGraph& graph, const ReadingOptions& options,
                                   const std::set<std::string>& without);

}  // namespace plated::planner
