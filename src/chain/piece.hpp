// Chains taken out of a graph: each connected piece of a chain becomes one factor over what it touches outside.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::chain {

using base::SortedSet;

/// Factors of a chain that its linked variables join. It is eliminated by messages that run along the chain, each over
/// `rows`, `outer` and the sources (before a slice) or targets (after it) of its links, in their order.
///
/// Messages begin at one end and come out at the other as the piece's result, a factor over `rows`, `outer` and the
/// linked variables of that end. A piece whose ends are both held by something that cannot be multiplied into the first
/// message keeps the first slice's sources in `outer`: its messages are then matrices.
struct Piece {
  DimId chain = 0;
  std::vector<Link> links;
  std::vector<DimId> rows;   // all batch dims, then the other plates of the linked variables
  std::vector<DimId> outer;  // variables outside of the chain that its factors hold
  SortedSet inside;          // variables of the chain
  std::vector<std::size_t> factors;
  bool forward = false;               // messages run from the first slice to the last
  bool keeps_start = false;           // the first slice's sources are in `outer`
  std::vector<std::size_t> absorbed;  // factors that are multiplied into the first message
  std::vector<DimId> sources;         // of the links
  std::vector<DimId> targets;
  std::vector<DimId> first;  // `^source` and `target$` of the links
  std::vector<DimId> last;

  /// Where messages begin, as variables outside of the chain, and where they come out.
  [[nodiscard]] const std::vector<DimId>& start() const { return forward ? first : last; }
  [[nodiscard]] const std::vector<DimId>& result() const { return forward ? last : first; }
};

/// Where a factor of the rest comes from: an operand of the graph, or a piece's result.
struct RestFactor {
  std::size_t index = 0;
  bool is_piece = false;
};

struct Pieces {
  FactorGraph graph;  // as asked, with a dim for each end of each link
  std::vector<Piece> pieces;
  /// The graph with each piece replaced by its result, asked for those outputs that need no slice of a piece.
  FactorGraph rest;
  std::vector<RestFactor> rest_factors;
  /// For each output of the graph: its number among the rest's, or the piece whose slices it tells apart.
  struct Answer {
    std::optional<std::size_t> rest;
    std::size_t piece = 0;
  };
  std::vector<Answer> answers;
  /// Chains for which lengths change how they are taken out: those with parts, in all plates of their linked variables,
  /// that nothing joins to these; and those inside pieces of others.
  SortedSet told_by_lengths;
};

/// What a question wants of how chains are taken out.
struct TakeOut {
  /// Parts of these chains that nothing joins to their linked variables are taken for parts of their first piece;
  /// those of others are left to the rest, where a chain is a plate.
  SortedSet ragged = {};
  auto operator<=>(const TakeOut&) const = default;
};

/// Takes the chains out of a graph. Throws IntractableError where a chain's slices are entangled with another plate's
/// or chain's, and OptionError for an output across slices of a piece and what lies beyond it.
[[nodiscard]] Pieces take_out_chains(const FactorGraph& graph, const TakeOut& how = {});

/// The variables of the rest: neither inside a piece, nor ends that messages have eliminated, nor ends that nothing
/// holds.
[[nodiscard]] SortedSet rest_variables(const Pieces& pieces);

/// The rest asked for other outputs, which need no slice of a piece.
[[nodiscard]] FactorGraph rest_asking(const Pieces& pieces, const std::vector<std::vector<DimId>>& outputs);

}  // namespace plated::chain
