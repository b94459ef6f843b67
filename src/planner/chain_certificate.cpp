// Names the variables that entangle the slices of a chain with others, and the factors that join them.
#include <algorithm>
#include <deque>
#include <string>

#include "planner/certificate.hpp"

namespace plated::planner {
namespace {

using base::contains;

/// Factors on a shortest path between two variables, through factors and variables of a chain's slices; links join.
std::vector<std::string> factors_between(const Problem& problem, const FactorGraph& graph, DimId chain, DimId from,
                                         DimId to) {
  std::vector<std::uint32_t> previous(problem.factors.size(), none);
  std::vector<bool> seen(problem.factors.size(), false);
  std::deque<std::uint32_t> queue;
  const auto visit = [&](DimId v, std::uint32_t before) {
    SortedSet same{v};
    for (const ProblemLink& link : problem.links) {
      if (link.source == v) same.push_back(link.target);
      if (link.target == v) same.push_back(link.source);
    }
    for (std::uint32_t f = 0; f < problem.factors.size(); ++f) {
      const ProblemFactor& factor = problem.factors[f];
      const bool held = std::any_of(same.begin(), same.end(), [&](DimId u) { return contains(factor.variables, u); });
      if (seen[f] || !held || !contains(factor.plates, chain)) continue;
      seen[f] = true;
      previous[f] = before;
      queue.push_back(f);
    }
  };
  visit(from, none);
  while (!queue.empty()) {
    const std::uint32_t f = queue.front();
    queue.pop_front();
    if (contains(problem.factors[f].variables, to)) {
      std::vector<std::string> path;
      for (std::uint32_t k = f; k != none; k = previous[k]) {
        if (problem.factors[k].operand >= 0) path.push_back(graph.factors()[problem.factors[k].operand].name);
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const DimId v : problem.factors[f].variables) {
      if (contains(problem.variable_plates[v], chain)) visit(v, f);
    }
  }
  return {};
}

IntractableError refusal(Certificate certificate, const std::string& reason) {
  std::string path;
  for (const std::string& factor : certificate.factors) path += (path.empty() ? "" : ", ") + factor;
  return {"intractable: " + reason + (path.empty() ? "" : "; what joins them: " + path) +
              ". The cost would be exponential in a plate's or a chain's size.",
          std::move(certificate)};
}

}  // namespace

IntractableError entangled_slices(const Problem& problem, const FactorGraph& graph, const ProblemLink& link,
                                  DimId other) {
  const auto name = [&](DimId d) { return graph.dims()[d].name; };
  const DimId plate = base::subtract(problem.variable_plates[link.source], problem.variable_plates[other]).front();
  return refusal({.u = name(link.source),
                  .w = name(other),
                  .a = name(plate),
                  .b = name(link.chain),
                  .factors = factors_between(problem, graph, link.chain, link.source, other)},
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
                  .factors = factors_between(problem, graph, a.chain, a.source, b.source)},
                 "variable '" + name(a.source) + "' is linked along chain '" + name(a.chain) + "' and variable '" +
                     name(b.source) + "' along chain '" + name(b.chain) + "', each in every slice of the other");
}

}  // namespace plated::planner
