// Finds two entangled variables and the chain of factors that joins them.
#include "planner/certificate.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "base/assert.hpp"
#include "planner/elimination.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::subtract;

struct Pair {
  DimId u, w, a, b;
};

/// u, w with a ∈ P(u) ∖ P(w) and b ∈ P(w) ∖ P(u). They exist: the plate sets' union is none of them ([TVE] App. A.1).
Pair entangled_pair(const Problem& problem, const SortedSet& variables) {
  for (const DimId u : variables) {
    for (const DimId w : variables) {
      const SortedSet only_u = subtract(problem.variable_plates[u], problem.variable_plates[w]);
      const SortedSet only_w = subtract(problem.variable_plates[w], problem.variable_plates[u]);
      if (!only_u.empty() && !only_w.empty()) return {u, w, only_u.front(), only_w.front()};
    }
  }
  PLATED_ASSERT(false);
  return {};
}

/// Names of the factors on a shortest path between two variables, through factors and variables that lie in some
/// plates; links join variables, too.
std::vector<std::string> joining_factors(const Problem& problem, const FactorGraph& graph, DimId from, DimId to,
                                         const SortedSet& plates, const std::vector<ProblemLink>& links) {
  std::vector<std::vector<std::uint32_t>> holders(problem.domain.size());
  for (std::uint32_t f = 0; f < problem.factors.size(); ++f) {
    if (!base::is_subset(plates, problem.factors[f].plates)) continue;
    for (const DimId v : problem.factors[f].variables) holders[v].push_back(f);
  }
  std::vector<std::uint32_t> previous(problem.factors.size(), none);
  std::vector<bool> seen(problem.factors.size(), false);
  std::deque<std::uint32_t> queue;
  const auto visit = [&](DimId v, std::uint32_t before) {
    SortedSet same{v};
    for (const ProblemLink& link : links) {
      if (link.source == v) same.push_back(link.target);
      if (link.target == v) same.push_back(link.source);
    }
    for (const DimId u : same) {
      for (const std::uint32_t next : holders[u]) {
        if (seen[next]) continue;
        seen[next] = true;
        previous[next] = before;
        queue.push_back(next);
      }
    }
  };
  visit(from, none);
  while (!queue.empty()) {
    const std::uint32_t f = queue.front();
    queue.pop_front();
    if (contains(problem.factors[f].variables, to)) {
      std::vector<std::string> path;
      for (std::uint32_t k = f; k != none; k = previous[k]) {
        // Others tie two names of a variable.
        if (problem.factors[k].operand >= 0) path.push_back(graph.factors()[problem.factors[k].operand].name);
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const DimId v : problem.factors[f].variables) {
      if (base::is_subset(plates, problem.variable_plates[v])) visit(v, f);
    }
  }
  return {};
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

IntractableError refusal(Certificate certificate, const std::string& reason) {
  const std::string path = listed(certificate.factors);
  return {"intractable: " + reason + (path.empty() ? "" : "; what joins them: " + path) +
              ". The cost would be exponential in a plate's or a chain's size.",
          std::move(certificate)};
}

}  // namespace

IntractableError intractable(const Problem& problem, const FactorGraph& graph, const SortedSet& entangled) {
  const Pair pair = entangled_pair(problem, entangled);
  const auto name = [&](DimId d) { return graph.dims()[d].name; };
  Certificate certificate{
      .u = name(pair.u),
      .w = name(pair.w),
      .a = name(pair.a),
      .b = name(pair.b),
      .factors = joining_factors(problem, graph, pair.u, pair.w, base::sorted(std::vector<DimId>{pair.a, pair.b}), {})};
  const std::string message = "intractable: variable '" + certificate.u + "' is in plate '" + certificate.a +
                              "' but not in '" + certificate.b + "', variable '" + certificate.w + "' is in plate '" +
                              certificate.b + "' but not in '" + certificate.a +
                              "', and factors in both plates join them: " + listed(certificate.factors) +
                              ". The cost would be exponential in a plate's size.";
  return {message, std::move(certificate)};
}

IntractableError entangled_slices(const Problem& problem, const FactorGraph& graph, const ProblemLink& link,
                                  DimId other) {
  const auto name = [&](DimId d) { return graph.dims()[d].name; };
  const DimId plate = base::subtract(problem.variable_plates[link.source], problem.variable_plates[other]).front();
  return refusal({.u = name(link.source),
                  .w = name(other),
                  .a = name(plate),
                  .b = name(link.chain),
                  .factors = joining_factors(problem, graph, link.source, other, {link.chain}, problem.links)},
                 "variable '" + name(link.source) + "' is linked along chain '" + name(link.chain) +
                     "' in each slice of plate '" + name(plate) + "', and variable '" + name(other) +
                     "' joins these slices in each slice of the chain");
}

IntractableError entangled_chains(const Problem& problem, const FactorGraph& graph, const ProblemLink& a,
                                  const ProblemLink& b) {
  const auto name = [&](DimId d) { return graph.dims()[d].name; };
  return refusal({.u = name(a.source),
                  .w = name(b.source),
                  .a = name(a.chain),
                  .b = name(b.chain),
                  .factors = joining_factors(problem, graph, a.source, b.source, {a.chain}, problem.links)},
                 "variable '" + name(a.source) + "' is linked along chain '" + name(a.chain) + "' and variable '" +
                     name(b.source) + "' along chain '" + name(b.chain) + "', each in every slice of the other");
}

}  // namespace plated::planner
