// The planner's view of a graph, without trivial variables and barren ones.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::planner {

using base::SortedSet;

/// No value, node or component.
inline constexpr std::uint32_t none = 0xffffffff;

/// How runs give the states of an observed variable that factors are read at: it is no variable of the problem.
struct Observation {
  std::size_t operand = 0;  // the graph's factor of its evidence, whose operand has states in place of an axis for them
  bool batched = false;     // and whether that has axes for batch dims
  bool partial = false;     // some slices are not observed, and a single factor holds it
  auto operator<=>(const Observation&) const = default;
};
using Observations = std::map<DimId, Observation>;
/// Dims of the operand's axes.
[[nodiscard]] std::vector<DimId> index_axes(const FactorGraph& graph, DimId variable, const Observation& observation);

/// A factor as Algorithm 1 sees it.
struct ProblemFactor {
  /// The operand it stands for, or −1: a variable that no factor holds has a factor of ones of its own.
  std::int64_t operand = -1;
  SortedSet variables;
  SortedSet plates;   // P(f), tied ones included
  SortedSet carried;  // the dims its operand has axes for: variables, plates and batch dims
  /// Observed variables that its operand is read at; `carried` has the axes of their observations in their place.
  SortedSet observed = {};
  /// A factor of the first or last slice of a chain only: an end that is in it. Its operand's axes that are ends of the
  /// chain stand for their variables.
  std::optional<DimId> in_slice_of = std::nullopt;
  /// It has no operand, and is zero where that end and its variable differ in that slice.
  bool holds_equal = false;
};

/// A link of a chain between variables of several states: slice t's `target` is slice t+1's `source`. Its ends are
/// `^source` and `target$`, as far as something names them.
struct ProblemLink {
  DimId chain = 0;
  DimId source = 0;
  DimId target = 0;
  std::optional<DimId> first;
  std::optional<DimId> last;
};

/// An output as the planner sees it.
struct ProblemOutput {
  SortedSet variables;
  SortedSet plates;  // ∪ P(v) over its variables; other plates that are written are broadcasts
  /// It has no elements (a dim of size 0), so nothing computes it.
  bool empty = false;
  /// It is about variables of the first or last slice of a chain: an end that is in it.
  std::optional<DimId> in_slice_of = std::nullopt;
  /// Nodes of the elimination that it is without, in the slices of its plates.
  SortedSet without = {};
};

struct Problem {
  std::vector<std::int64_t> domain;        // [dim]: |dom(v)| of a variable; of other dims nothing is known
  std::vector<DimKind> kind;               // [dim]
  std::vector<SortedSet> variable_plates;  // [dim]: P(v)
  std::vector<ProblemFactor> factors;      // empty once a schedule is made
  std::vector<ProblemOutput> outputs;
  std::vector<ProblemLink> links;
  std::optional<DimId> filtered;     // a chain: outputs in its slices depend on no later ones
  std::optional<DimId> left_out_of;  // a plate or chain: an output leaves out its slices, or factors of them
  std::vector<DimId> dropped;        // barren variables
  SortedSet absent;  // dims that are left out: variables with one state and, where sizes are fixed, unit dims
  SortedSet fixed;   // plates, batch dims and chains whose size the graph gives and no run may change

  /// What a dim counts in choices that must not depend on the sizes of plates: a nominal size for these.
  [[nodiscard]] double nominal_size(DimId d) const;
};

struct ReadingOptions {
  /// Barren variables go with their conditional factors (pass `drop_barren`).
  bool sums_only = false;
  /// Plates and batch dims of size 1 disappear like variables of one state (pass `drop_unit_dims`), and so does
  /// everything inside a plate of size 0.
  bool fixed_sizes = false;
  std::optional<DimId> filtered = {};
  std::optional<DimId> left_out_of = {};
  /// Plates that stay even so if they have one slice: it may stand for several.
  SortedSet weighted = {};
  Observations observations = {};
};
[[nodiscard]] Problem read_problem(const FactorGraph& graph, const ReadingOptions& options,
                                   const std::set<std::string>& without);

}  // namespace plated::planner
