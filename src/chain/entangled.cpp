// Finds entangled variables and the factors that join them.
#include "chain/entangled.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "plated/error.hpp"

namespace plated::chain {
namespace {

using base::contains;

/// Factors of the piece on a shortest path between two variables, through variables of the chain.
std::vector<std::string> joining_factors(const FactorGraph& graph, const Piece& piece, DimId from, DimId to) {
  std::vector<std::int64_t> previous(piece.factors.size(), -1);
  std::vector<bool> seen(piece.factors.size(), false);
  std::deque<std::size_t> queue;
  const auto visit = [&](DimId v, std::int64_t before) {
    SortedSet same{v};
    for (const Link& link : piece.links) {
      if (link.source == v) same.push_back(link.target);
      if (link.target == v) same.push_back(link.source);
    }
    for (std::size_t k = 0; k < piece.factors.size(); ++k) {
      const SortedSet variables = graph.factor_variables(piece.factors[k]);
      const bool held = std::any_of(same.begin(), same.end(), [&](DimId u) { return contains(variables, u); });
      if (seen[k] || !held) continue;
      seen[k] = true;
      previous[k] = before;
      queue.push_back(k);
    }
  };
  visit(from, -1);
  while (!queue.empty()) {
    const std::size_t k = queue.front();
    queue.pop_front();
    const SortedSet variables = graph.factor_variables(piece.factors[k]);
    if (contains(variables, to)) {
      std::vector<std::string> path;
      for (auto at = static_cast<std::int64_t>(k); at >= 0; at = previous[at]) {
        path.push_back(graph.factors()[piece.factors[at]].name);
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const DimId v : variables) {
      if (contains(piece.inside, v)) visit(v, static_cast<std::int64_t>(k));
    }
  }
  return {};
}

[[noreturn]] void refuse(const FactorGraph& graph, const Piece& piece, DimId u, DimId w, DimId a, DimId b,
                         const std::string& reason) {
  const auto name = [&](DimId d) { return graph.dims()[d].name; };
  Certificate certificate{.u = name(u), .w = name(w), .a = name(a), .b = name(b), .factors = {}};
  certificate.factors = joining_factors(graph, piece, u, w);
  std::string path;
  for (const std::string& factor : certificate.factors) path += (path.empty() ? "" : ", ") + factor;
  throw IntractableError("intractable: " + reason + (path.empty() ? "" : "; what joins them: " + path) +
                             ". The cost would be exponential in a plate's or a chain's size.",
                         std::move(certificate));
}

}  // namespace

void check_tractable(const FactorGraph& graph, const Piece& piece, const SortedSet& outer,
                     const std::vector<std::vector<DimId>>& plates) {
  const DimId linked = piece.sources[0];
  const auto quoted = [&](DimId d) { return "'" + graph.dims()[d].name + "'"; };
  const auto counts = [&](DimId plate) { return graph.dims()[plate].size != 1; };
  const std::string chain = quoted(piece.chain);
  for (const DimId v : piece.inside) {
    for (const DimId plate : plates[linked]) {
      if (!counts(plate) || contains(plates[v], plate)) continue;
      refuse(graph, piece, linked, v, plate, piece.chain,
             "variable " + quoted(linked) + " is linked along chain " + chain + " in each slice of plate " +
                 quoted(plate) + ", and variable " + quoted(v) + " joins these slices in each slice of the chain");
    }
    const auto other = graph.linking_chain(v);
    if (other && *other != piece.chain && contains(plates[linked], *other)) {
      refuse(graph, piece, linked, v, piece.chain, *other,
             "variable " + quoted(linked) + " is linked along chain " + chain + " and variable " + quoted(v) +
                 " along chain " + quoted(*other) + ", each in every slice of the other");
    }
  }
  const auto both_join = [&](DimId w, DimId plate) {
    return "variable " + quoted(linked) + " is linked along chain " + chain + " but not in " + quoted(plate) +
           ", variable " + quoted(w) + " is in " + quoted(plate) + " but not in " + chain +
           ", and factors in both join them";
  };
  for (const DimId w : outer) {
    for (const DimId plate : plates[w]) {
      if (!counts(plate) || contains(plates[linked], plate)) continue;
      refuse(graph, piece, linked, w, piece.chain, plate, both_join(w, plate));
    }
  }
}

}  // namespace plated::chain
