// Finds the pieces of chains and decides in which direction each is eliminated.
#include "chain/piece.hpp"

#include <algorithm>
#include <string>

#include "base/disjoint_sets.hpp"
#include "chain/entangled.hpp"
#include "chain/views.hpp"
#include "graph/derived.hpp"
#include "plated/error.hpp"

namespace plated::chain {
namespace {

using base::contains;
using base::intersect;
using base::is_subset;
using base::sorted;
using base::subtract;
using base::unite;

class PieceFinder {
 public:
  PieceFinder(const FactorGraph& graph, const TakeOut& how) : graph_(graph), how_(how) {
    result_.graph = graph;
    for (const Chain& chain : graph.chains()) {
      for (const Link& link : chain.links) {
        graph::Derived::end_of(result_.graph, link.source, End::first);
        graph::Derived::end_of(result_.graph, link.target, End::last);
      }
    }
    plates_ = result_.graph.variable_plates();
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      factor_plates_.push_back(graph.factor_plates(f));
      factor_variables_.push_back(graph.factor_variables(f));
    }
    taken_.assign(graph.factors().size(), false);
  }

  Pieces run() {
    // Outermost chains first: what lies inside a piece is eliminated with its slices.
    std::vector<Piece> found;
    for (const Chain& chain : graph_.chains()) {
      for (Piece& piece : components(chain)) found.push_back(std::move(piece));
    }
    std::stable_sort(found.begin(), found.end(), [&](const Piece& a, const Piece& b) {
      return plates_[a.sources[0]].size() < plates_[b.sources[0]].size();
    });
    for (Piece& piece : found) {
      const bool inside = std::any_of(result_.pieces.begin(), result_.pieces.end(),
                                      [&](const Piece& around) { return contains(around.inside, piece.sources[0]); });
      if (inside) continue;
      std::erase_if(piece.factors, [&](std::size_t f) { return taken_[f]; });
      take(std::move(piece));
    }
    write_rest();
    return std::move(result_);
  }

 private:
  /// The parts of a chain that variables inside it, or links, join; those that hold linked variables.
  std::vector<Piece> components(const Chain& chain) {
    const std::size_t dims = result_.graph.dims().size();
    base::DisjointSets sets(dims);
    // A chain inside this one is eliminated with its slices, so that its links and ends join what they lead through.
    for (const Chain& other : graph_.chains()) {
      for (const Link& link : other.links) {
        if (contains(plates_[link.source], chain.dim)) sets.join(link.source, link.target);
      }
    }
    for (DimId d = 0; d < dims; ++d) {
      const Dim& dim = result_.graph.dims()[d];
      if (dim.end != End::none) sets.join(d, dim.of);
    }
    std::vector<SortedSet> inside(graph_.factors().size());
    for (std::size_t f = 0; f < inside.size(); ++f) {
      if (!contains(factor_plates_[f], chain.dim)) continue;
      for (const DimId v : factor_variables_[f]) {
        if (contains(plates_[v], chain.dim)) inside[f].push_back(v);
      }
      for (const DimId v : inside[f]) sets.join(v, inside[f][0]);
    }
    const std::vector<Loose> loose = join_loose(chain, inside, sets);
    std::vector<Piece> pieces;
    for (const Link& link : chain.links) {
      const auto root = sets.root(link.source);
      const auto same = [&](const Piece& known) { return sets.root(known.sources[0]) == root; };
      auto piece = std::find_if(pieces.begin(), pieces.end(), same);
      if (piece == pieces.end()) {
        pieces.push_back({.chain = chain.dim});
        piece = pieces.end() - 1;
      }
      piece->links.push_back(link);
      piece->sources.push_back(link.source);
      piece->targets.push_back(link.target);
    }
    for (Piece& piece : pieces) {
      const auto root = sets.root(piece.sources[0]);
      for (DimId v = 0; v < dims; ++v) {
        const bool variable = result_.graph.dims()[v].kind == DimKind::variable;
        if (variable && sets.root(v) == root && contains(plates_[v], chain.dim)) piece.inside.push_back(v);
      }
      for (std::size_t f = 0; f < inside.size(); ++f) {
        if (!inside[f].empty() && sets.root(inside[f][0]) == root) piece.factors.push_back(f);
      }
    }
    for (const auto& [f, linked] : loose) {
      if (intersect(how_.ragged, factor_plates_[f]).empty()) continue;
      const auto root = sets.root(linked);
      const auto holder = std::find_if(pieces.begin(), pieces.end(),
                                       [&](const Piece& piece) { return sets.root(piece.sources[0]) == root; });
      if (holder == pieces.end()) continue;  // it goes with a piece of the chain inside
      holder->factors.insert(std::upper_bound(holder->factors.begin(), holder->factors.end(), f), f);
    }
    return pieces;
  }

  /// A factor of a chain's slices that holds none of its variables, and a linked variable whose piece it goes with.
  struct Loose {
    std::size_t factor = 0;
    DimId linked = 0;
  };

  /// Finds what nothing joins to the linked variables of a chain, or of those inside of its slices, and joins it where
  /// lengths tell which of its slices exist.
  std::vector<Loose> join_loose(const Chain& chain, const std::vector<SortedSet>& inside, base::DisjointSets& sets) {
    std::vector<Loose> loose;
    for (const Chain& other : graph_.chains()) {
      if (other.links.empty() || !contains(plates_[other.links[0].source], chain.dim)) continue;
      const SortedSet& linked = plates_[other.links[0].source];
      const bool ragged = contains(how_.ragged, other.dim);
      const auto is_linked = [&](DimId v) {
        return std::any_of(other.links.begin(), other.links.end(),
                           [&](const Link& link) { return sets.root(link.source) == sets.root(v); });
      };
      const auto join = [&](DimId v) {
        if (is_linked(v)) return;
        tell_by_lengths(other.dim);
        if (ragged) sets.join(v, other.links[0].source);
      };
      for (DimId v = 0; v < graph_.dims().size(); ++v) {
        const Dim& dim = graph_.dims()[v];
        if (dim.kind == DimKind::variable && dim.end == End::none && is_subset(linked, plates_[v])) join(v);
      }
      for (std::size_t f = 0; f < inside.size(); ++f) {
        if (!is_subset(linked, factor_plates_[f])) continue;
        if (!inside[f].empty()) {
          join(inside[f][0]);
          continue;
        }
        tell_by_lengths(other.dim);
        if (!ragged && other.dim != chain.dim) continue;
        const auto known =
            std::find_if(loose.begin(), loose.end(), [&](const Loose& each) { return each.factor == f; });
        if (known == loose.end()) {
          loose.push_back({f, other.links[0].source});
        } else if (ragged && is_subset(plates_[known->linked], linked)) {
          known->linked = other.links[0].source;  // the innermost chain
        }
      }
    }
    return loose;
  }

  void tell_by_lengths(DimId chain) { result_.told_by_lengths = unite(result_.told_by_lengths, {chain}); }

  void take(Piece piece) {
    const FactorGraph& graph = result_.graph;
    const SortedSet linked = plates_[piece.sources[0]];
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      if (graph.dims()[d].kind == DimKind::batch) piece.rows.push_back(d);
    }
    for (const DimId d : linked) {
      if (d != piece.chain) piece.rows.push_back(d);
    }
    SortedSet outer;
    for (const std::size_t f : piece.factors) {
      taken_[f] = true;
      for (const Chain& other : graph_.chains()) {
        if (other.dim != piece.chain && contains(factor_plates_[f], other.dim)) tell_by_lengths(other.dim);
      }
      outer = unite(outer, subtract(factor_variables_[f], piece.inside));
    }
    check_tractable(graph, piece, outer, plates_);
    piece.outer.assign(outer.begin(), outer.end());
    for (const Link& link : piece.links) {
      piece.first.push_back(graph::Derived::end_of(result_.graph, link.source, End::first));
      piece.last.push_back(graph::Derived::end_of(result_.graph, link.target, End::last));
    }
    choose_direction(piece);
    result_.pieces.push_back(std::move(piece));
  }

  [[nodiscard]] bool in_output(const std::vector<DimId>& ends) const {
    return std::any_of(graph_.outputs().begin(), graph_.outputs().end(), [&](const Output& output) {
      return std::any_of(ends.begin(), ends.end(), [&](DimId v) { return holds(output.dims, v); });
    });
  }

  [[nodiscard]] std::vector<std::size_t> holders(const Piece& piece, const std::vector<DimId>& ends) const {
    std::vector<std::size_t> list;
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) {
      if (std::find(piece.factors.begin(), piece.factors.end(), f) != piece.factors.end()) continue;
      const bool held =
          std::any_of(ends.begin(), ends.end(), [&](DimId v) { return contains(factor_variables_[f], v); });
      if (held) list.push_back(f);
    }
    return list;
  }

  /// Whether all that holds these ends are factors over them and what the messages carry anyway.
  [[nodiscard]] bool absorbable(const Piece& piece, const std::vector<DimId>& ends) const {
    if (in_output(ends)) return false;
    const SortedSet carried = unite(sorted(ends), sorted(piece.outer));
    for (const std::size_t f : holders(piece, ends)) {
      if (taken_[f] || !is_subset(factor_variables_[f], carried)) return false;
    }
    return true;
  }

  void choose_direction(Piece& piece) {
    const bool first_held = in_output(piece.first) || !holders(piece, piece.first).empty();
    const bool last_held = in_output(piece.last) || !holders(piece, piece.last).empty();
    piece.forward = last_held;
    if (first_held && piece.forward) {
      if (absorbable(piece, piece.first)) {
        piece.absorbed = holders(piece, piece.first);
      } else if (absorbable(piece, piece.last)) {
        piece.forward = false;
        piece.absorbed = holders(piece, piece.last);
      } else {
        piece.keeps_start = true;
        piece.outer.insert(piece.outer.end(), piece.first.begin(), piece.first.end());
      }
    }
    for (const std::size_t f : piece.absorbed) taken_[f] = true;
  }

  /// The piece whose slices an output tells apart by its variables or, where not all slices exist, without any.
  [[nodiscard]] std::optional<std::size_t> sliced_piece(const Output& output) {
    const SortedSet dims = sorted(output.dims);
    for (std::size_t p = 0; p < result_.pieces.size(); ++p) {
      const Piece& piece = result_.pieces[p];
      const SortedSet known = unite(piece.inside, sorted(piece.outer));
      if (intersect(dims, piece.inside).empty()) {
        const bool all_known = std::all_of(dims.begin(), dims.end(), [&](DimId d) {
          return graph_.dims()[d].kind != DimKind::variable || contains(known, d);
        });
        if (!all_known || !is_subset(plates_[piece.sources[0]], dims)) continue;
        tell_by_lengths(piece.chain);
        if (contains(how_.ragged, piece.chain)) return p;
        continue;
      }
      for (const DimId d : output.dims) {
        if (graph_.dims()[d].kind == DimKind::variable && !contains(known, d)) {
          throw OptionError("an output has '" + graph_.dims()[d].name + "' beside variables of a slice of chain '" +
                            graph_.dims()[piece.chain].name + "' that no factor of the chain holds it with");
        }
      }
      return p;
    }
    return std::nullopt;
  }

  void write_rest() {
    std::vector<std::vector<DimId>> outputs;
    for (const Output& output : graph_.outputs()) {
      Pieces::Answer answer;
      if (const auto piece = sliced_piece(output)) {
        answer.piece = *piece;
      } else {
        answer.rest = outputs.size();
        outputs.push_back(output.dims);
      }
      result_.answers.push_back(answer);
    }
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) {
      if (!taken_[f]) result_.rest_factors.push_back({.index = f});
    }
    for (std::size_t p = 0; p < result_.pieces.size(); ++p) {
      result_.rest_factors.push_back({.index = p, .is_piece = true});
    }
    result_.rest = rest_asking(result_, outputs);
  }

  const FactorGraph& graph_;
  const TakeOut& how_;
  Pieces result_;
  std::vector<std::vector<DimId>> plates_;
  std::vector<SortedSet> factor_plates_;
  std::vector<SortedSet> factor_variables_;
  std::vector<bool> taken_;
};

}  // namespace

SortedSet rest_variables(const Pieces& pieces) {
  SortedSet gone;
  SortedSet held;
  for (const Piece& piece : pieces.pieces) {
    gone = unite(gone, piece.inside);
    if (!piece.keeps_start) gone = unite(gone, sorted(piece.start()));
    held = unite(held, unite(sorted(piece.result()), sorted(piece.outer)));
  }
  SortedSet list;
  for (DimId d = 0; d < pieces.graph.dims().size(); ++d) {
    const Dim& dim = pieces.graph.dims()[d];
    if (dim.kind != DimKind::variable || contains(gone, d)) continue;
    if (dim.end == End::none || contains(held, d)) list.push_back(d);
  }
  return list;
}

FactorGraph rest_asking(const Pieces& pieces, const std::vector<std::vector<DimId>>& outputs) {
  const FactorGraph& graph = pieces.graph;
  const std::vector<std::vector<DimId>> plates = graph.variable_plates();
  const SortedSet variables = rest_variables(pieces);
  graph::Derived rest(graph);
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::batch) rest.batch(d);
    if (has_slices(graph.dims()[d].kind)) rest.plate(d);
    if (contains(variables, d)) rest.variable(d, plates[d]);
  }
  for (const RestFactor& from : pieces.rest_factors) {
    if (!from.is_piece) {
      const Factor& factor = graph.factors()[from.index];
      rest.factor(factor.name, factor.dims, factor.tied);
      continue;
    }
    const Piece& piece = pieces.pieces[from.index];
    std::vector<DimId> dims = piece.rows;
    dims.insert(dims.end(), piece.outer.begin(), piece.outer.end());
    dims.insert(dims.end(), piece.result().begin(), piece.result().end());
    SortedSet single;  // plates of a single slice that only variables outside have
    for (const DimId v : piece.outer) single = unite(single, subtract(sorted(plates[v]), sorted(piece.rows)));
    rest.factor("chain " + graph.dims()[piece.chain].name + " (" + std::to_string(from.index) + ")", dims, single);
  }
  for (const std::vector<DimId>& dims : outputs) rest.output(dims);
  return std::move(rest).finish();
}

Pieces take_out_chains(const FactorGraph& graph, const TakeOut& how) {
  graph.validate();
  return PieceFinder(graph, how).run();
}

}  // namespace plated::chain
